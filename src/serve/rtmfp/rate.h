/* SPDX-License-Identifier: MIT */
/* rate.h - limits per address how fast clients send expensive packets: startup packets,
 * introductions.
 *
 * A table of fixed size, lock-free for all workers. An IPv6 address counts by its /64, as in
 * session/address_limits.h. If the set of an address is full, it replaces the address that was
 * silent longest, which then starts from zero. Nothing here yields.
 */
#ifndef SERVE_RTMFP_RATE_H
#define SERVE_RTMFP_RATE_H

#include "base/siphash.h"
#include "co/co.h"

#include <stdatomic.h>

enum { RTMFP_RATE_SETS = 4096, RTMFP_RATE_WAYS = 4 };

struct rtmfp_rate {
    uint8_t key[SIPHASH_KEY];
    struct rtmfp_rate_place {
        atomic_ullong hash;    /* hash of the address; 0: free */
        atomic_llong until;   /* time until which its packets are paid for, us */
    } v[RTMFP_RATE_SETS][RTMFP_RATE_WAYS];
};
struct rtmfp_rate *rtmfp_rate_new(void);
void rtmfp_rate_free(struct rtmfp_rate *r);
/* Counts one packet of this address. Returns false if it exceeds `per_second` and `burst`.
 * per_second 0: no limit. */
bool rtmfp_rate_take(struct rtmfp_rate *r, const uint8_t ip[16], unsigned per_second,
                     unsigned burst, co_usec now);

#endif
