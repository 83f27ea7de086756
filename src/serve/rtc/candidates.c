/* SPDX-License-Identifier: MIT */
/* candidates.c - our candidate addresses, best ones first: simple clients only use the first.
 *
 * The sources are: the request, the configuration, the Host of the request, our interfaces. Each
 * address is listed once.
 */
#include "serve/rtc/impl.h"

#include "base/ip.h"
#include "base/must.h"
#include "base/url.h"
#include "co/net/dns.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    RTC_PLACE_MAX = sizeof(((struct sdp_candidate *)0)->ip), RTC_INTERFACES_MAX = 16,
};

/* Untrusted clients choose the Host to resolve, so few names are resolved at a time. */
enum { NAMES = 8, ASKING = 4 };
#define TIMEOUT CO_SECONDS(2)
#define KEPT CO_SECONDS(60)
#define KEPT_FAILED CO_SECONDS(5)
#define KEPT_INTERFACES CO_SECONDS(5)

struct name {
    char name[CO_DNS_NAME_MAX + 1]; /* "": free */
    co_usec until;
    struct co_dns found;
};

struct rtc_found {
    struct name names[NAMES];
    unsigned asking;
    co_usec until; /* expiry of the interface list */
    enum conf_ip_family family;
    unsigned n;
    char ips[RTC_INTERFACES_MAX][IP_TEXT];
};

static struct rtc_found *get(struct rtc_service *s)
{
    if (!s->found)
        s->found = must(calloc(1, sizeof(*s->found)));
    return s->found;
}

void rtc_candidates_free(struct rtc_service *s)
{
    free(s->found);
    s->found = NULL;
}

/* ---- addresses of names, cached for 60 s; failures for 5 s */

static struct name *find(struct rtc_found *f, const char *name)
{
    for (int i = 0; i < NAMES; i++) {
        if (strcasecmp(f->names[i].name, name) == 0)
            return &f->names[i];
    }
    return NULL;
}

static void keep(struct rtc_found *f, const char *name, const struct co_dns *found, co_usec until)
{
    struct name *n = find(f, name), *oldest = &f->names[0];

    for (int i = 1; i < NAMES && !n; i++) {
        if (f->names[i].until < oldest->until)
            oldest = &f->names[i];
    }
    n = n ? n : oldest;
    memcpy(n->name, name, strlen(name) + 1);
    n->found = *found;
    n->until = until;
}

static void find_name(struct rtc_service *s, const char *name, struct co_dns *out)
{
    struct rtc_found *f = get(s);
    const struct name *n = find(f, name);
    err_t err;

    memset(out, 0, sizeof(*out));
    if (!*name || strlen(name) > CO_DNS_NAME_MAX)
        return;
    if (n && n->until > co_clock()) {
        *out = n->found;
        return;
    }
    if (f->asking == ASKING)
        return;
    f->asking++;
    err = co_dns_resolve(name, TIMEOUT, out);
    f->asking--;
    if (err)
        out->count = 0;
    keep(f, name, out, co_clock() + (err ? KEPT_FAILED : KEPT));
    err_free(&err);
}

/* ---- addresses of active interfaces, cached for 5 s */

static bool is_wanted(const struct ifaddrs *a, enum conf_ip_family family, bool loopback)
{
    const struct sockaddr_in6 *v6 = (const void *)a->ifa_addr;

    if (!v6 || !(a->ifa_flags & IFF_UP) || !(a->ifa_flags & IFF_LOOPBACK) == loopback)
        return false;
    if (v6->sin6_family == AF_INET)
        return family != CONF_IPV6;
    return v6->sin6_family == AF_INET6 && family != CONF_IPV4 &&
           !IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr); /* meaningless without its interface */
}

static void list(struct rtc_found *f, const struct ifaddrs *all, bool loopback)
{
    for (const struct ifaddrs *a = all; a && f->n < RTC_INTERFACES_MAX; a = a->ifa_next) {
        const struct sockaddr_in *v4 = (const void *)a->ifa_addr;
        const struct sockaddr_in6 *v6 = (const void *)a->ifa_addr;
        const void *ip;

        if (!is_wanted(a, f->family, loopback))
            continue;
        ip = v4->sin_family == AF_INET ? (const void *)&v4->sin_addr : &v6->sin6_addr;
        if (inet_ntop(v4->sin_family, ip, f->ips[f->n], IP_TEXT))
            f->n++;
    }
}

static unsigned interfaces(struct rtc_service *s, enum conf_ip_family family,
                           char out[RTC_INTERFACES_MAX][IP_TEXT])
{
    struct rtc_found *f = get(s);
    struct ifaddrs *all = NULL;

    if (f->until <= co_clock() || f->family != family) {
        f->family = family;
        f->n = 0;
        f->until = co_clock() + KEPT_INTERFACES;
        if (getifaddrs(&all) == 0) {
            list(f, all, false);
            if (f->n == 0)
                list(f, all, true);
            freeifaddrs(all);
        }
    }
    memcpy(out, f->ips, sizeof(f->ips));
    return f->n;
}

struct places {
    struct { char ip[RTC_PLACE_MAX]; uint16_t port; } v[SDP_CANDIDATES_MAX]; /* port 0: our port */
    unsigned n, most;
};

static void add(struct places *p, const char *ip, size_t size, uint16_t port)
{
    if (size == 0 || size >= RTC_PLACE_MAX || p->n == p->most)
        return;
    for (unsigned i = 0; i < p->n; i++) {
        if (strncmp(p->v[i].ip, ip, size) == 0 && p->v[i].ip[size] == '\0' && p->v[i].port == port)
            return;
    }
    memcpy(p->v[p->n].ip, ip, size);
    p->v[p->n].ip[size] = '\0';
    p->v[p->n++].port = port;
}

static void add_address(struct places *p, const char *text, size_t size, uint16_t port)
{
    uint8_t addr[IP_SIZE];
    char ip[IP_TEXT];

    if (!ip_parse(text, size, addr))
        return;
    (void)ip_text(addr, ip);
    add(p, ip, strlen(ip), port);
}

/* Splits "1.2.3.4", "1.2.3.4:8000", "::1", "[::1]", "[::1]:8000", "name", "name:8000". Returns
 * false if the port is invalid. */
static bool split(const char *text, const char **host, size_t *size, uint16_t *port)
{
    struct host_port parts = host_port_split(text, strlen(text));

    *host = parts.host;
    *size = parts.host_n;
    *port = (uint16_t)host_port_number(&parts);
    return !parts.bad && *size > 0 && (*port > 0 || !parts.port);
}

/* Adds the address that the client says it can reach. */
static void add_eip(struct places *p, const char *eip)
{
    const char *host;
    size_t size;
    uint16_t port;

    if (eip && *eip && split(eip, &host, &size, &port))
        add_address(p, host, size, port);
}

static void add_name(struct places *p, struct rtc_service *s, const char *name, uint16_t port)
{
    struct co_dns found;

    find_name(s, name, &found);
    for (int i = 0; i < found.count; i++)
        add_address(p, found.ip[i], strlen(found.ip[i]), port);
}

static bool is_any(const char *text)
{
    return strcmp(text, "*") == 0 || strcmp(text, "0.0.0.0") == 0 || strcmp(text, "::") == 0;
}

/* A name that does not resolve here may resolve at clients. */
static void add_configured(struct places *p, struct rtc_service *s, const char *text)
{
    char name[RTC_PLACE_MAX];
    uint8_t addr[IP_SIZE];
    const char *host;
    size_t size;
    uint16_t port;
    unsigned was = p->n;

    if (!split(text, &host, &size, &port) || size >= sizeof(name))
        return;
    if (ip_parse(host, size, addr)) {
        add_address(p, host, size, port);
        return;
    }
    memcpy(name, host, size);
    name[size] = '\0';
    add_name(p, s, name, port);
    if (p->n == was)
        add(p, name, size, port);
}

static bool is_loopback(const char *ip)
{
    return strncmp(ip, "127.", 4) == 0 || strcmp(ip, "::1") == 0;
}

/* Adds the Host of the request: a client that reached the API there can reach us there, unless it
 * is a name such as localhost. */
static void add_host(struct places *p, struct rtc_service *s, const struct conf_rtc_server *conf,
                     const char *host)
{
    size_t n = host ? strlen(host) : 0;
    uint8_t addr[IP_SIZE];
    struct co_dns found = { 0 };

    if (!conf->api_as_candidates || n == 0 || is_loopback(host) || is_any(host) ||
        strcasecmp(host, "localhost") == 0)
        return;
    if (ip_parse(host, n, addr)) {
        add_address(p, host, n, 0);
        return;
    }
    if (conf->resolve_api_domain)
        find_name(s, host, &found);
    for (int i = 0; i < found.count; i++) {
        if (!is_loopback(found.ip[i]))
            add_address(p, found.ip[i], strlen(found.ip[i]), 0);
    }
    if (conf->keep_api_domain)
        add(p, host, n, 0);
}

/* Adds the address we are bound to; for wildcards the addresses of interfaces. */
static void add_interfaces(struct places *p, struct rtc_service *s,
                           const struct conf_rtc_server *conf)
{
    const char *bound = conf->listen.n > 0 ? conf->listen.v[0].host : "";
    char ips[RTC_INTERFACES_MAX][IP_TEXT];
    unsigned n;

    if (bound && *bound && !is_any(bound)) {
        add_address(p, bound, strlen(bound), 0);
        return;
    }
    n = interfaces(s, conf->ip_family, ips);
    for (unsigned i = 0; i < n; i++)
        add(p, ips[i], strlen(ips[i]), 0);
}

static void find_places(struct places *p, struct rtc_service *s, const struct rtc_request *req,
                        const struct conf_rtc_server *conf)
{
    bool any = conf->candidate.n == 0;

    add_eip(p, req->eip);
    for (size_t i = 0; i < conf->candidate.n; i++) {
        if (is_any(conf->candidate.v[i]))
            any = true;
        else
            add_configured(p, s, conf->candidate.v[i]);
    }
    add_host(p, s, conf, req->host);
    if ((any && conf->use_auto_detect_network_ip) || p->n == 0)
        add_interfaces(p, s, conf); /* without any candidate no client could connect */
}

static uint16_t our_port(const struct rtc_service *s, const struct conf_rtc_server *conf, bool tcp)
{
    const struct conf_endpoints *v = tcp ? &conf->tcp.listen : &conf->listen;
    const struct datagram_endpoint *e = NULL;

    if (!tcp && v->n > 0)
        e = datagram_endpoint_at(&s->base, v->v[0].host, v->v[0].port);
    if (e)
        return e->socket->at.port;
    return v->n > 0 ? (uint16_t)v->v[0].port : 0;
}

unsigned rtc_candidates(struct rtc_service *s, const struct rtc_request *req,
                        struct sdp_candidate out[SDP_CANDIDATES_MAX])
{
    struct conf *conf = conf_ref(s->base.env->conf); /* resolving a name yields */
    const struct conf_rtc_server *rtc = &conf->rtc_server;
    bool with_tcp = rtc->protocol != CONF_RTC_UDP && rtc->tcp.enabled;
    bool with[2] = { rtc->protocol != CONF_RTC_TCP || !with_tcp, with_tcp };
    struct places p = { .most = with[0] && with[1] ? SDP_CANDIDATES_MAX / 2 : SDP_CANDIDATES_MAX };
    unsigned n = 0;

    find_places(&p, s, req, rtc);
    for (int tcp = 0; tcp < 2; tcp++) {
        for (unsigned i = 0; with[tcp] && i < p.n; i++) {
            memcpy(out[n].ip, p.v[i].ip, sizeof(p.v[i].ip));
            out[n].port = p.v[i].port ? p.v[i].port : our_port(s, rtc, tcp);
            out[n++].tcp = tcp;
        }
    }
    (void)conf_unref(conf);
    return n;
}
