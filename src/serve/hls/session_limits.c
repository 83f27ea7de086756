/* SPDX-License-Identifier: MIT */
/* session_limits.c - limits on the number of HLS and DASH sessions. */
#include "serve/hls/session_limits.h"

#include "base/must.h"
#include "conf/conf.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { UNUSED_PART = 50, UNUSED_MIN = 1000 };

struct hls_session_limits { /* list of the unused sessions */
    struct hls_session_slot *oldest, *newest;
};

static atomic_uint sessions, unused_sessions; /* total of all workers */
static struct address_limits *peers;  /* per-address slots, shared by all workers */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_peers(void)
{
    peers = address_limits_new(0);
    address_limits_share(peers);
}

struct hls_session_limits *hls_session_limits_new(void)
{
    (void)pthread_once(&once, make_peers);
    return must(calloc(1, sizeof(struct hls_session_limits)));
}

void hls_session_limits_free(struct hls_session_limits *r)
{
    free(r);
}

/* ------------------------------------------------------------ unused sessions */

static void add_unused(struct hls_session_limits *r, struct hls_session_slot *p)
{
    (void)atomic_fetch_add_explicit(&unused_sessions, 1, memory_order_relaxed);
    p->unused = true;
    p->older = r->newest;
    *(r->newest ? &r->newest->newer : &r->oldest) = p;
    r->newest = p;
}

void hls_session_limits_used(struct hls_session_limits *r, struct hls_session_slot *p)
{
    if (!p->unused)
        return;
    p->unused = false;
    (void)atomic_fetch_sub_explicit(&unused_sessions, 1, memory_order_relaxed);
    *(p->older ? &p->older->newer : &r->oldest) = p->newer;
    *(p->newer ? &p->newer->older : &r->newest) = p->older;
}

/* Returns p or the first newer one of that address. The list is short: see unused_max(). */
static struct hls_session_slot *of_address(struct hls_session_slot *p, const char *ip)
{
    uint8_t address[IP_SIZE];

    if (ip)
        ip_customer(ip, address);
    while (ip && p && memcmp(p->address, address, IP_SIZE) != 0)
        p = p->newer;
    return p;
}

struct hls_session_slot *hls_session_limits_oldest(const struct hls_session_limits *r,
                                                   const char *ip)
{
    return of_address(r->oldest, ip);
}

struct hls_session_slot *hls_session_limits_next(const struct hls_session_slot *p, const char *ip)
{
    return of_address(p->newer, ip);
}

/* ------------------------------------------------------------ enter and leave */

/* As for connections: addresses that stand for many clients (a local proxy, a private network) have
 * no limit unless limit_private is on. */
static bool take_address_slot(struct hls_session_slot *p, const struct conf_limits *l,
                              const char *ip)
{
    const struct address_limits_config limits = { .per_address =
                                                      (unsigned)l->hls_address_sessions };
    uint8_t addr[ADDRESS_BYTES];

    if (limits.per_address == 0 || !ip_parse(ip, strlen(ip), addr) ||
        (!l->limit_private && address_is_private(addr)))
        return true;
    return address_limits_enter(peers, &p->peer, addr, &limits, co_now()) == ADDRESS_WELCOME;
}

static unsigned unused_max(const struct conf_limits *l)
{
    int max = l->hls_sessions / UNUSED_PART;

    return (unsigned)(max > UNUSED_MIN ? max : UNUSED_MIN);
}

static err_t limit_error(const struct conf_limits *l, const char *ip, bool own, unsigned all)
{
    if (own)
        return err_new(ERR_TOO_MANY, "HLS sessions of %s: %d (limits.hls_address_sessions)", ip,
                       l->hls_address_sessions);
    if (all >= (unsigned)l->hls_sessions)
        return err_new(ERR_TOO_MANY, "%u HLS sessions: over limits.hls_sessions", all);
    return err_new(ERR_TOO_MANY, "%u HLS sessions without a segment: too many for "
                   "limits.hls_sessions", unused_max(l));
}

err_t hls_session_limits_enter(struct hls_session_limits *r, struct hls_session_slot *p,
                               const struct session_env *env, const char *ip, bool *own)
{
    const struct conf_limits *l = &env->conf->limits;
    unsigned n = atomic_fetch_add_explicit(&sessions, 1, memory_order_relaxed);
    unsigned unused = atomic_load_explicit(&unused_sessions, memory_order_relaxed);

    *own = !take_address_slot(p, l, ip);
    if (*own || unused >= unused_max(l) || n >= (unsigned)l->hls_sessions) {
        address_limits_leave(&p->peer, co_now());
        (void)atomic_fetch_sub_explicit(&sessions, 1, memory_order_relaxed);
        return limit_error(l, ip, *own, n);
    }
    ip_customer(ip, p->address);
    add_unused(r, p);
    return NULL;
}

void hls_session_limits_leave(struct hls_session_limits *r, struct hls_session_slot *p)
{
    hls_session_limits_used(r, p);
    address_limits_leave(&p->peer, co_now());
    (void)atomic_fetch_sub_explicit(&sessions, 1, memory_order_relaxed);
}
