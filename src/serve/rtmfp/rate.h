/* SPDX-License-Identifier: MIT */
/* rate.h - how fast each address sends what costs us something: startup packets, introductions.
 *
 * A table of fixed size that all workers may ask, without a lock. An IPv6 address counts by its
 * /64, as in session/address_limits.h. An address that finds its set full takes the place of the
 * one that was silent for longest, which may then begin anew. Nothing yields.
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
        atomic_ullong who;    /* a hash; 0: nobody */
        atomic_llong until;   /* what it took so far is paid for then, us */
    } v[RTMFP_RATE_SETS][RTMFP_RATE_WAYS];
};
struct rtmfp_rate *rtmfp_rate_new(void);
void rtmfp_rate_free(struct rtmfp_rate *r);
/* One more of that address: false: it is over `per_second`, and over `burst` at once. Of
 * per_second 0 there is no limit. */
bool rtmfp_rate_take(struct rtmfp_rate *r, const uint8_t ip[16], unsigned per_second,
                     unsigned burst, co_usec now);

#endif
