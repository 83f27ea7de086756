/* SPDX-License-Identifier: MIT */
/* access.c - access rules for addresses and web pages. */
#include "base/ip.h"
#include "conf/conf.h"
#include "conf/endpoint.h"
#include "conf/protocol.h"

#include <string.h>
#include <strings.h>

enum { PER_ADDRESS = 2000 }; /* enough for a school behind one address */

/* Returns the first matching rule, or NULL. addr NULL (not an IP address) only matches `all`. */
static const struct conf_rule *match(const struct conf_rules *rules, enum conf_action what,
                                     const uint8_t *addr)
{
    for (size_t i = 0; i < rules->n; i++) {
        const struct conf_rule *r = &rules->v[i];

        if (r->action == what && (r->bits == 0 || (addr && ip_in_network(addr, r->addr, r->bits))))
            return r;
    }
    return NULL;
}

err_t conf_security_check(const struct conf_security *s, enum conf_action what, const char *ip)
{
    const struct conf_rule *deny;
    uint8_t bytes[16];
    bool v4;
    const uint8_t *addr = conf_address_parse(ip, strlen(ip), bytes, &v4) ? bytes : NULL;

    if (!s->enabled)
        return NULL;
    if (s->allow.n == 0 && s->deny.n == 0 && !conf_security_needs_token(s, CONF_PUBLISH) &&
        !conf_security_needs_token(s, CONF_PLAY))
        return err_new(ERR_DENIED, "%.45s: security is on but has no rule", ip);
    deny = match(&s->deny, what, addr);
    if (deny)
        return err_new(ERR_DENIED, "%.45s: deny %.40s", ip, deny->text);
    /* any allow rule, even for the other action, denies everything else */
    if (s->allow.n && !match(&s->allow, what, addr))
        return err_new(ERR_DENIED, "%.45s: no allow rule matches", ip);
    return NULL;
}

/* Share of `all` that one address may use: half of it, at most `most`. */
static int share_of(int all, int most)
{
    int half = all / 2;

    return half < 1 ? 1 : half < most ? half : most;
}

int conf_per_address(const struct conf *c)
{
    int set = c->limits.per_address;

    return set != CONF_UNSET ? set : share_of(c->max_connections, PER_ADDRESS);
}

int conf_protocol_per_address(const struct conf *c, enum protocol_id id, bool is_private)
{
    const struct conf_protocol *p = conf_protocol(id);
    int set = *(const int *)((const char *)c + p->max_ip);

    if (set != CONF_UNSET)
        return set;
    if (is_private && !c->limits.limit_private)
        return 0;
    return share_of(conf_protocol_max(p, c), p->ip_most);
}

bool conf_networks_have(const struct conf_networks *networks, const uint8_t addr[16])
{
    for (size_t i = 0; i < networks->n; i++) {
        if (ip_in_network(addr, networks->v[i].addr, networks->v[i].bits))
            return true;
    }
    return false;
}

bool conf_networks_have_text(const struct conf_networks *networks, const char *ip)
{
    uint8_t addr[IP_SIZE];

    return ip_parse(ip, strlen(ip), addr) && conf_networks_have(networks, addr);
}

bool conf_security_needs_token(const struct conf_security *s, enum conf_action what)
{
    if (!s->enabled)
        return false;
    return what == CONF_PUBLISH ? s->token.publish || s->key.n > 0 : s->token.play;
}

bool conf_security_restricts(const struct conf_security *s, enum conf_action what)
{
    bool denies = false, none = s->deny.n == 0;

    for (size_t i = 0; i < s->deny.n; i++)
        denies |= s->deny.v[i].action == what;
    none &= !conf_security_needs_token(s, CONF_PUBLISH) && !conf_security_needs_token(s, CONF_PLAY);
    return s->enabled && (s->allow.n > 0 || denies || none || conf_security_needs_token(s, what));
}

bool conf_security_exempts(const struct conf_security *s, enum conf_action what, const char *ip)
{
    uint8_t bytes[16];
    bool v4;
    const uint8_t *addr = conf_address_parse(ip, strlen(ip), bytes, &v4) ? bytes : NULL;

    return match(&s->token.except, what, addr) != NULL;
}

/* Moves *url to its host, after the scheme. Returns the length of the host. */
static size_t host_of(const char **url)
{
    const char *scheme = strstr(*url, "://");

    if (scheme)
        *url = scheme + 3;
    return strcspn(*url, ":/?#");
}

/* Returns true if host is name or a subdomain of it. */
static bool is_below(const char *host, size_t size, const char *name)
{
    size_t n = strlen(name);

    if (n > size || strncasecmp(host + size - n, name, n) != 0)
        return false;
    return n == size || *name == '.' || host[size - n - 1] == '.';
}

static bool allowed(const struct conf_list *names, const char *host, size_t size)
{
    for (size_t i = 0; i < names->n; i++) {
        if (is_below(host, size, names->v[i]))
            return true;
    }
    return names->n == 0;
}

err_t conf_refer_check(const struct conf_refer *r, enum conf_action what, const char *page_url)
{
    const char *host = page_url;
    size_t size = host_of(&host);

    if (!r->enabled || (allowed(&r->all, host, size) &&
                        allowed(what == CONF_PUBLISH ? &r->publish : &r->play, host, size)))
        return NULL;
    return err_new(ERR_REFER_DENIED, "page \"%.60s\" is not allowed", page_url);
}
