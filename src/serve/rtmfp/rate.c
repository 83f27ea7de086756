/* SPDX-License-Identifier: MIT */
/* rate.c - limits per address how fast clients send expensive packets. */
#include "serve/rtmfp/rate.h"

#include "base/ip.h"
#include "base/must.h"

#include <stdlib.h>

enum { NET_6 = 8 }; /* bytes of an IPv6 address that identify its network */

struct rtmfp_rate *rtmfp_rate_new(void)
{
    struct rtmfp_rate *r = must(calloc(1, sizeof(*r)));

    siphash_new_key(r->key);
    return r;
}

void rtmfp_rate_free(struct rtmfp_rate *r)
{
    free(r);
}

/* Returns the slot of an address, or the one that was unused longest. Another thread may take that
 * one at the same time for another address; both then share it for a moment. */
static struct rtmfp_rate_place *place_of(struct rtmfp_rate *r, uint64_t hash)
{
    struct rtmfp_rate_place *set = r->v[hash % RTMFP_RATE_SETS], *oldest = set;

    for (int i = 0; i < RTMFP_RATE_WAYS; i++) {
        if (atomic_load_explicit(&set[i].hash, memory_order_relaxed) == hash)
            return &set[i];
        if (atomic_load_explicit(&set[i].until, memory_order_relaxed) <
            atomic_load_explicit(&oldest->until, memory_order_relaxed))
            oldest = &set[i];
    }
    atomic_store_explicit(&oldest->hash, hash, memory_order_relaxed);
    atomic_store_explicit(&oldest->until, 0, memory_order_relaxed);
    return oldest;
}

bool rtmfp_rate_take(struct rtmfp_rate *r, const uint8_t ip[16], unsigned per_second,
                     unsigned burst, co_usec now)
{
    struct rtmfp_rate_place *p;
    co_usec each, begin;
    long long until;

    if (per_second == 0)
        return true;
    each = CO_SECONDS(1) / per_second;
    p = place_of(r, siphash(r->key, ip, ip_is_v4(ip) ? IP_SIZE : NET_6) | 1);
    until = atomic_load_explicit(&p->until, memory_order_relaxed);
    do {
        begin = until > now ? until : now;
        if (begin - now > each * (co_usec)(burst - 1))
            return false;
    } while (!atomic_compare_exchange_weak_explicit(&p->until, &until, begin + each,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}
