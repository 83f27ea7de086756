/* SPDX-License-Identifier: MIT */
/* room.c - how many sessions of HLS and DASH there may be. */
#include "serve/hls/room.h"

#include "base/ip.h"
#include "base/must.h"
#include "base/siphash.h"
#include "conf/conf.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 1024, UNUSED_PART = 50, UNUSED_LEAST = 1000 };

struct ends {
    struct hls_room_place *oldest, *newest;
};

/* One that has unused sessions at this worker. */
struct hls_room_address {
    struct hls_room_address *next;
    uint8_t of[IP_SIZE];
    struct ends unused;
};

struct hls_room {
    uint8_t secret[SIPHASH_KEY];
    struct hls_room_address *buckets[BUCKETS];
    struct ends unused;
};

static atomic_uint sessions, unused_sessions; /* of all workers */
static struct peers *peers;  /* likewise */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_peers(void)
{
    peers = peers_new(0);
    peers_share(peers);
}

struct hls_room *hls_room_new(void)
{
    struct hls_room *r = must(calloc(1, sizeof(*r)));

    (void)pthread_once(&once, make_peers);
    siphash_new_key(r->secret);
    return r;
}

void hls_room_free(struct hls_room *r)
{
    free(r);
}

/* ------------------------------------------------------------ unused ones of an address */

static struct hls_room_address **find(const struct hls_room *r, const uint8_t of[IP_SIZE])
{
    size_t i = siphash(r->secret, of, IP_SIZE) % BUCKETS;
    struct hls_room_address **at = (struct hls_room_address **)&r->buckets[i];

    while (*at && memcmp((*at)->of, of, IP_SIZE) != 0)
        at = &(*at)->next;
    return at;
}

static void line_up(struct hls_room *r, struct hls_room_place *p, const uint8_t of[IP_SIZE])
{
    struct hls_room_address **at = find(r, of);

    (void)atomic_fetch_add_explicit(&unused_sessions, 1, memory_order_relaxed);
    if (!*at) {
        *at = must(calloc(1, sizeof(**at)));
        memcpy((*at)->of, of, IP_SIZE);
    }
    p->address = *at;
    p->all = (struct hls_room_link){ .older = r->unused.newest };
    *(r->unused.newest ? &r->unused.newest->all.newer : &r->unused.oldest) = p;
    r->unused.newest = p;
    p->same = (struct hls_room_link){ .older = p->address->unused.newest };
    *(p->same.older ? &p->same.older->same.newer : &p->address->unused.oldest) = p;
    p->address->unused.newest = p;
}

void hls_room_used(struct hls_room *r, struct hls_room_place *p)
{
    struct hls_room_address *a = p->address, **at;

    if (!a)
        return;
    p->address = NULL;
    (void)atomic_fetch_sub_explicit(&unused_sessions, 1, memory_order_relaxed);
    *(p->all.older ? &p->all.older->all.newer : &r->unused.oldest) = p->all.newer;
    *(p->all.newer ? &p->all.newer->all.older : &r->unused.newest) = p->all.older;
    *(p->same.older ? &p->same.older->same.newer : &a->unused.oldest) = p->same.newer;
    *(p->same.newer ? &p->same.newer->same.older : &a->unused.newest) = p->same.older;
    if (a->unused.oldest)
        return;
    at = find(r, a->of);
    *at = a->next;
    free(a);
}

struct hls_room_place *hls_room_oldest(const struct hls_room *r, const char *ip)
{
    const struct hls_room_address *a;
    uint8_t of[IP_SIZE];

    if (!ip)
        return r->unused.oldest;
    ip_customer(ip, of);
    a = *find(r, of);
    return a ? a->unused.oldest : NULL;
}

struct hls_room_place *hls_room_next(const struct hls_room_place *p, const char *ip)
{
    return ip ? p->same.newer : p->all.newer;
}

/* ------------------------------------------------------------ to come and to go */

/* As of connections: addresses that stand for many (a proxy beside us, a private network) have no
 * share unless limit_private is on. */
static bool has_place(struct hls_room_place *p, const struct conf_limits *l, const char *ip)
{
    const struct peers_limits limits = { .per_address = (unsigned)l->hls_address_sessions };
    uint8_t addr[PEERS_ADDR];

    if (limits.per_address == 0 || !ip_parse(ip, strlen(ip), addr) ||
        (!l->limit_private && peers_is_private(addr)))
        return true;
    return peers_enter(peers, &p->peer, addr, &limits, co_now()) == PEERS_WELCOME;
}

static unsigned most_unused(const struct conf_limits *l)
{
    int most = l->hls_sessions / UNUSED_PART;

    return (unsigned)(most > UNUSED_LEAST ? most : UNUSED_LEAST);
}

static err_t full(const struct conf_limits *l, const char *ip, bool own, unsigned all)
{
    if (own)
        return err_new(ERR_TOO_MANY, "HLS sessions of %s: %d (limits.hls_address_sessions)", ip,
                       l->hls_address_sessions);
    if (all >= (unsigned)l->hls_sessions)
        return err_new(ERR_TOO_MANY, "%u HLS sessions: over limits.hls_sessions", all);
    return err_new(ERR_TOO_MANY, "%u HLS sessions that fetched no segment: over what "
                   "limits.hls_sessions has for those", most_unused(l));
}

err_t hls_room_enter(struct hls_room *r, struct hls_room_place *p, const struct session_env *env,
                     const char *ip, bool *own)
{
    const struct conf_limits *l = &env->conf->limits;
    unsigned n = atomic_fetch_add_explicit(&sessions, 1, memory_order_relaxed);
    unsigned unused = atomic_load_explicit(&unused_sessions, memory_order_relaxed);
    uint8_t of[IP_SIZE];

    *own = !has_place(p, l, ip);
    if (*own || unused >= most_unused(l) || n >= (unsigned)l->hls_sessions) {
        peers_leave(&p->peer, co_now());
        (void)atomic_fetch_sub_explicit(&sessions, 1, memory_order_relaxed);
        return full(l, ip, *own, n);
    }
    ip_customer(ip, of);
    line_up(r, p, of);
    return NULL;
}

void hls_room_leave(struct hls_room *r, struct hls_room_place *p)
{
    hls_room_used(r, p);
    peers_leave(&p->peer, co_now());
    (void)atomic_fetch_sub_explicit(&sessions, 1, memory_order_relaxed);
}
