/* SPDX-License-Identifier: MIT */
/* address_slot.c - checks `limits` for a connection from an address. */
#include "session/address_slot.h"

#include "base/log.h"
#include "conf/endpoint.h"

#include <arpa/inet.h>
#include <string.h>

enum { PRIVATE_TIMES = 10 }; /* factor for the log budget of a private address */

static const char *text_of(const uint8_t addr[ADDRESS_BYTES], char *buf, socklen_t size)
{
    char *colon;

    if (!inet_ntop(AF_INET6, addr, buf, size))
        return "?";
    colon = strrchr(buf, ':'); /* a mapped IPv4 address ends with an IPv4 address */
    return colon && strchr(colon, '.') ? colon + 1 : buf;
}

static void tell(struct session_env *s, enum address_answer answer,
                 const uint8_t addr[ADDRESS_BYTES])
{
    const struct conf_limits *l = &s->conf->limits;
    bool many = answer == ADDRESS_TOO_MANY;
    unsigned n = reject_counters_add(&s->reject_counters,
                                     many ? REJECT_PER_ADDRESS : REJECT_CONNECT_RATE, co_now());
    char text[INET6_ADDRSTRLEN];

    if (n == 0)
        return;
    log_always(LOG_WARN, "refused %u connections, the last one of %s: %s is %d (limits)", n,
               text_of(addr, text, sizeof(text)), many ? "per_address" : "connects_per_second",
               many ? conf_per_address(s->conf) : l->connects_per_second);
}

bool address_slot_take(struct session_env *s, struct address_slot *place,
                        const uint8_t addr[ADDRESS_BYTES])
{
    const struct conf_limits *l = &s->conf->limits;
    const struct address_limits_config limits = { (unsigned)conf_per_address(s->conf),
                                         (unsigned)l->connects_per_second };
    enum address_answer answer;

    address_slot_leave(place);
    if (!s->peers || (limits.per_address == 0 && limits.connects_per_second == 0) ||
        (!l->limit_private && address_is_private(addr)))
        return true;
    answer = address_limits_enter(s->peers, place, addr, &limits, co_now());
    if (answer != ADDRESS_WELCOME)
        tell(s, answer, addr);
    return answer == ADDRESS_WELCOME;
}

bool address_slot_is_free(const struct session_env *s, const char *ip)
{
    uint8_t addr[ADDRESS_BYTES];
    bool v4, known = conf_address_parse(ip, strlen(ip), addr, &v4);

    return !s->conf->limits.limit_private && (!known || address_is_private(addr));
}

err_t address_slot_take_ip(struct session_env *s, struct address_slot *place, const char *ip)
{
    uint8_t addr[ADDRESS_BYTES];
    bool v4;

    if (!conf_address_parse(ip, strlen(ip), addr, &v4))
        memset(addr, 0, sizeof(addr));
    if (address_slot_take(s, place, addr))
        return NULL;
    return err_new(ERR_TOO_MANY, "connections of %.45s", ip);
}

void address_slot_leave(struct address_slot *place)
{
    address_limits_leave(place, co_now());
}

void session_log_as_client(const struct session_env *s, const char *ip)
{
    co_log_as_client(ip, address_slot_is_free(s, ip) ? PRIVATE_TIMES : 1);
}
