/* SPDX-License-Identifier: MIT */
/* place.c - whether a connection from some address may come. */
#include "session/place.h"

#include "base/log.h"
#include "conf/endpoint.h"

#include <arpa/inet.h>
#include <string.h>

enum { PRIVATE_TIMES = 10 }; /* the log budget of a private address: many may be behind it */

static const char *text_of(const uint8_t addr[PEERS_ADDR], char *buf, socklen_t size)
{
    char *colon;

    if (!inet_ntop(AF_INET6, addr, buf, size))
        return "?";
    colon = strrchr(buf, ':'); /* a mapped IPv4 address ends as one */
    return colon && strchr(colon, '.') ? colon + 1 : buf;
}

static void tell(struct session_env *s, enum peers_answer answer, const uint8_t addr[PEERS_ADDR])
{
    const struct conf_limits *l = &s->conf->limits;
    bool many = answer == PEERS_TOO_MANY;
    unsigned n = refusals_add(&s->refusals, many ? REFUSAL_PER_ADDRESS : REFUSAL_CONNECT_RATE,
                              co_now());
    char text[INET6_ADDRSTRLEN];

    if (n == 0)
        return;
    log_always(LOG_WARN, "refused %u connections, the last one of %s: %s is %d (limits)", n,
               text_of(addr, text, sizeof(text)), many ? "per_address" : "connects_per_second",
               many ? conf_per_address(s->conf) : l->connects_per_second);
}

bool session_place_take(struct session_env *s, struct peers_place *place,
                        const uint8_t addr[PEERS_ADDR])
{
    const struct conf_limits *l = &s->conf->limits;
    const struct peers_limits limits = { (unsigned)conf_per_address(s->conf),
                                         (unsigned)l->connects_per_second };
    enum peers_answer answer;

    session_place_leave(place);
    if (!s->peers || (limits.per_address == 0 && limits.connects_per_second == 0) ||
        (!l->limit_private && peers_is_private(addr)))
        return true;
    answer = peers_enter(s->peers, place, addr, &limits, co_now());
    if (answer != PEERS_WELCOME)
        tell(s, answer, addr);
    return answer == PEERS_WELCOME;
}

bool session_place_is_free(const struct session_env *s, const char *ip)
{
    uint8_t addr[PEERS_ADDR];
    bool v4, known = conf_address_parse(ip, strlen(ip), addr, &v4);

    return !s->conf->limits.limit_private && (!known || peers_is_private(addr));
}

err_t session_place_take_ip(struct session_env *s, struct peers_place *place, const char *ip)
{
    uint8_t addr[PEERS_ADDR];
    bool v4;

    if (!conf_address_parse(ip, strlen(ip), addr, &v4))
        memset(addr, 0, sizeof(addr));
    if (session_place_take(s, place, addr))
        return NULL;
    return err_new(ERR_TOO_MANY, "connections of %.45s", ip);
}

void session_place_leave(struct peers_place *place)
{
    peers_leave(place, co_now());
}

void session_log_as_client(const struct session_env *s, const char *ip)
{
    co_log_as_client(ip, session_place_is_free(s, ip) ? PRIVATE_TIMES : 1);
}
