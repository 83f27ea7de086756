/* SPDX-License-Identifier: MIT */
/* candidates.c - where clients find us, in the order of what is likeliest to work: simple clients
 * take the first one alone.
 *
 * What the request says, what is configured, the host of the request, our interfaces; each once.
 */
#include "serve/rtc/found.h"

#include "base/host_port.h"
#include "base/ip.h"

#include <stdlib.h>
#include <string.h>

struct places {
    struct { char ip[RTC_PLACE_MAX]; uint16_t port; } v[SDP_CANDIDATES_MAX]; /* port 0: ours */
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

/* "1.2.3.4", "1.2.3.4:8000", "::1", "[::1]", "[::1]:8000", "name", "name:8000". False: its port is
 * none. */
static bool split(const char *text, const char **host, size_t *size, uint16_t *port)
{
    struct host_port parts = host_port_split(text, strlen(text));

    *host = parts.host;
    *size = parts.host_n;
    *port = (uint16_t)host_port_number(&parts);
    return !parts.bad && *size > 0 && (*port > 0 || !parts.port);
}

/* What the client says that it can reach. */
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

    rtc_found_name(s, name, &found);
    for (int i = 0; i < found.count; i++)
        add_address(p, found.ip[i], strlen(found.ip[i]), port);
}

static bool is_any(const char *text)
{
    return strcmp(text, "*") == 0 || strcmp(text, "0.0.0.0") == 0 || strcmp(text, "::") == 0;
}

/* A name that does not resolve here may do so for clients. */
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

/* Whoever reached the API by that host reaches us by it, but for a machine's name for itself. */
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
        rtc_found_name(s, host, &found);
    for (int i = 0; i < found.count; i++) {
        if (!is_loopback(found.ip[i]))
            add_address(p, found.ip[i], strlen(found.ip[i]), 0);
    }
    if (conf->keep_api_domain)
        add(p, host, n, 0);
}

/* Where we are bound; to all: what interfaces have. */
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
    n = rtc_found_interfaces(s, conf->ip_family, ips);
    for (unsigned i = 0; i < n; i++)
        add(p, ips[i], strlen(ips[i]), 0);
}

static void find_places(struct places *p, struct rtc_service *s, const struct rtc_ask *ask,
                        const struct conf_rtc_server *conf)
{
    bool any = conf->candidate.n == 0;

    add_eip(p, ask->eip);
    for (size_t i = 0; i < conf->candidate.n; i++) {
        if (is_any(conf->candidate.v[i]))
            any = true;
        else
            add_configured(p, s, conf->candidate.v[i]);
    }
    add_host(p, s, conf, ask->host);
    if ((any && conf->use_auto_detect_network_ip) || p->n == 0)
        add_interfaces(p, s, conf); /* with nothing at all nobody would find us */
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

unsigned rtc_candidates(struct rtc_service *s, const struct rtc_ask *ask,
                        struct sdp_candidate out[SDP_CANDIDATES_MAX])
{
    struct conf *conf = conf_ref(s->base.env->conf); /* to ask for a name yields */
    const struct conf_rtc_server *rtc = &conf->rtc_server;
    bool with_tcp = rtc->protocol != CONF_RTC_UDP && rtc->tcp.enabled;
    bool with[2] = { rtc->protocol != CONF_RTC_TCP || !with_tcp, with_tcp };
    struct places p = { .most = with[0] && with[1] ? SDP_CANDIDATES_MAX / 2 : SDP_CANDIDATES_MAX };
    unsigned n = 0;

    find_places(&p, s, ask, rtc);
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
