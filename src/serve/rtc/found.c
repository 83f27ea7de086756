/* SPDX-License-Identifier: MIT */
/* found.c - addresses of names and of our interfaces, kept for a while. */
#include "serve/rtc/found.h"

#include "base/must.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What a stranger writes as Host is asked for, so few are at a time. */
enum { NAMES = 8, ASKING = 4 };
#define PATIENCE CO_SECONDS(2)
#define KEPT CO_SECONDS(60)
#define KEPT_FAILED CO_SECONDS(5)
#define KEPT_INTERFACES CO_SECONDS(5)

struct name {
    char name[CO_DNS_NAME_MAX + 1]; /* "": none */
    co_usec until;
    struct co_dns found;
};

struct rtc_found {
    struct name names[NAMES];
    unsigned asking;
    co_usec until; /* of interfaces */
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

/* ---- names */

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

void rtc_found_name(struct rtc_service *s, const char *name, struct co_dns *out)
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
    err = co_dns_resolve(name, PATIENCE, out);
    f->asking--;
    if (err)
        out->count = 0;
    keep(f, name, out, co_clock() + (err ? KEPT_FAILED : KEPT));
    err_free(&err);
}

/* ---- interfaces */

static bool is_wanted(const struct ifaddrs *a, enum conf_ip_family family, bool loopback)
{
    const struct sockaddr_in6 *v6 = (const void *)a->ifa_addr;

    if (!v6 || !(a->ifa_flags & IFF_UP) || !(a->ifa_flags & IFF_LOOPBACK) == loopback)
        return false;
    if (v6->sin6_family == AF_INET)
        return family != CONF_IPV6;
    return v6->sin6_family == AF_INET6 && family != CONF_IPV4 &&
           !IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr); /* which is nothing without its interface */
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

unsigned rtc_found_interfaces(struct rtc_service *s, enum conf_ip_family family,
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
