/* SPDX-License-Identifier: MIT */
/* address_limits.c - connections and connection rate of each address: a hash table with a secret
 * key, so that an attacker cannot choose addresses that collide. */
#include "session/address_limits.h"

#include "base/list.h"
#include "base/must.h"
#include "base/siphash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS_MIN = 1024, BUCKETS_MAX = 1 << 20, FORGET_A_TURN = 2 };

struct peer {
    struct peer *next;             /* in its bucket */
    struct peer *older, *newer;    /* in the list of addresses without a connection */
    uint64_t key[2];
    unsigned connections;
    double tokens;                 /* connects allowed at once (token bucket) */
    co_usec filled_at;
};

struct address_limits {
    bool shared;           /* if set, the lock protects the members that follow */
    pthread_mutex_t lock;
    uint8_t secret[SIPHASH_KEY];
    struct peer **buckets;
    size_t mask, count, idle;
    struct peer *oldest, *newest;  /* without a connection, by the end of their last one */
};

struct address_limits *address_limits_new(size_t expected)
{
    struct address_limits *p = must(calloc(1, sizeof(*p)));
    size_t n = BUCKETS_MIN;

    while (n < expected && n < BUCKETS_MAX)
        n *= 2;
    p->mask = n - 1;
    p->buckets = must(calloc(n, sizeof(p->buckets[0])));
    siphash_new_key(p->secret);
    (void)pthread_mutex_init(&p->lock, NULL);
    return p;
}

void address_limits_share(struct address_limits *p)
{
    p->shared = true;
}

static void lock(struct address_limits *p)
{
    if (p->shared)
        (void)pthread_mutex_lock(&p->lock);
}

static void unlock(struct address_limits *p)
{
    if (p->shared)
        (void)pthread_mutex_unlock(&p->lock);
}

static bool is_v4(const uint8_t a[ADDRESS_BYTES])
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

    return memcmp(a, mapped, sizeof(mapped)) == 0;
}

/* The key is a whole IPv4 address, or the network of an IPv6 address. */
static void make_key(uint64_t key[2], const uint8_t addr[ADDRESS_BYTES])
{
    memcpy(key, addr, ADDRESS_BYTES);
    if (!is_v4(addr))
        key[1] = 0;
}

static struct peer **bucket_of(const struct address_limits *p, const uint64_t key[2])
{
    return &p->buckets[siphash(p->secret, key, ADDRESS_BYTES) & p->mask];
}

static struct peer *find(const struct address_limits *p, const uint64_t key[2])
{
    struct peer *e = *bucket_of(p, key);

    while (e && (e->key[0] != key[0] || e->key[1] != key[1]))
        e = e->next;
    return e;
}

/* ---- addresses without a connection: remembered until their token bucket is full again */

static void line_up(struct address_limits *p, struct peer *e)
{
    e->newer = NULL;
    e->older = p->newest;
    *(p->newest ? &p->newest->newer : &p->oldest) = e;
    p->newest = e;
    p->idle++;
}

static void leave_line(struct address_limits *p, struct peer *e)
{
    *(e->older ? &e->older->newer : &p->oldest) = e->newer;
    *(e->newer ? &e->newer->older : &p->newest) = e->older;
    p->idle--;
}

static void move_to_end(struct address_limits *p, struct peer *e)
{
    leave_line(p, e);
    line_up(p, e);
}

static void forget(struct address_limits *p, struct peer *e)
{
    LIST_CUT(bucket_of(p, e->key), e);
    leave_line(p, e);
    p->count--;
    free(e);
}

/* Removes a few at a time, so that the cost of a connect does not depend on earlier ones. */
static void forget_some(struct address_limits *p, co_usec now)
{
    for (int i = 0; i < FORGET_A_TURN && p->oldest; i++) {
        if (p->idle <= ADDRESS_REMEMBERED && now - p->oldest->filled_at < CO_SECONDS(ADDRESS_BURST))
            return;
        forget(p, p->oldest);
    }
}

/* ---- connect and disconnect */

static double burst(const struct address_limits_config *l)
{
    return (double)l->connects_per_second * ADDRESS_BURST;
}

static struct peer *add(struct address_limits *p, const uint64_t key[2],
                        const struct address_limits_config *l, co_usec now)
{
    struct peer *e = must(calloc(1, sizeof(*e))), **at = bucket_of(p, key);

    *e = (struct peer){ .next = *at, .key = { key[0], key[1] }, .tokens = burst(l),
                        .filled_at = now };
    *at = e;
    p->count++;
    line_up(p, e);
    return e;
}

static bool take_token(struct peer *e, const struct address_limits_config *l, co_usec now)
{
    if (l->connects_per_second == 0)
        return true;
    if (now > e->filled_at) { /* the clocks of two threads differ slightly */
        e->tokens += (double)(now - e->filled_at) / 1e6 * l->connects_per_second;
        e->filled_at = now;
    }
    if (e->tokens > burst(l))
        e->tokens = burst(l);
    if (e->tokens < 1)
        return false;
    e->tokens--;
    return true;
}

static enum address_answer enter(struct address_limits *p, struct peer **out, const uint64_t key[2],
                               const struct address_limits_config *limits, co_usec now)
{
    struct peer *e;

    forget_some(p, now);
    e = find(p, key);
    if (!e)
        e = add(p, key, limits, now);
    else if (e->connections == 0) /* an active address must not be the next one removed */
        move_to_end(p, e);
    if (!take_token(e, limits, now))
        return ADDRESS_TOO_FAST;
    if (limits->per_address > 0 && e->connections >= limits->per_address)
        return ADDRESS_TOO_MANY;
    if (e->connections++ == 0)
        leave_line(p, e);
    *out = e;
    return ADDRESS_WELCOME;
}

enum address_answer address_limits_enter(struct address_limits *p, struct address_slot *place,
                                         const uint8_t addr[ADDRESS_BYTES],
                                         const struct address_limits_config *limits, co_usec now)
{
    enum address_answer answer;
    uint64_t key[2];

    address_limits_leave(place, now);
    make_key(key, addr);
    lock(p);
    answer = enter(p, &place->peer, key, limits, now);
    unlock(p);
    if (place->peer)
        place->limits = p;
    return answer;
}

void address_limits_leave(struct address_slot *place, co_usec now)
{
    struct address_limits *p = place->limits;
    struct peer *e = place->peer;

    if (!e)
        return;
    *place = (struct address_slot){ 0 };
    lock(p);
    if (--e->connections == 0) {
        line_up(p, e);
        forget_some(p, now);
    }
    unlock(p);
}

void address_limits_free(struct address_limits *p)
{
    if (!p)
        return;
    while (p->oldest)
        forget(p, p->oldest);
    (void)pthread_mutex_destroy(&p->lock);
    free(p->buckets);
    free(p);
}

size_t address_limits_count(const struct address_limits *p)
{
    return p->count;
}

unsigned address_limits_connections(const struct address_limits *p,
                                    const uint8_t addr[ADDRESS_BYTES])
{
    uint64_t key[2];
    const struct peer *e;

    make_key(key, addr);
    e = find(p, key);
    return e ? e->connections : 0;
}

/* ---- private addresses */

static bool is_private_v4(uint32_t a)
{
    static const struct {
        uint32_t net;
        int bits;
    } nets[] = {
        { 0x7f000000, 8 }, { 0x0a000000, 8 }, { 0xac100000, 12 }, { 0xc0a80000, 16 },
        { 0xa9fe0000, 16 }, { 0x64400000, 10 }, { 0, 8 },
    };

    for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++) {
        if ((a ^ nets[i].net) >> (32 - nets[i].bits) == 0)
            return true;
    }
    return false;
}

bool address_is_private(const uint8_t a[ADDRESS_BYTES])
{
    static const uint8_t loopback[ADDRESS_BYTES] = { [15] = 1 }, none[ADDRESS_BYTES];

    if (is_v4(a))
        return is_private_v4((uint32_t)a[12] << 24 | (uint32_t)a[13] << 16 | (uint32_t)a[14] << 8 |
                             a[15]);
    return (a[0] & 0xfe) == 0xfc || (a[0] == 0xfe && (a[1] & 0xc0) == 0x80) ||
           memcmp(a, loopback, ADDRESS_BYTES) == 0 || memcmp(a, none, ADDRESS_BYTES) == 0;
}
