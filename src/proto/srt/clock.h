/* SPDX-License-Identifier: MIT */
/* clock.h - the peer's clock as we see it: its zero, how it drifts, and the round trip.
 *
 * "Timestamp-Based Packet Delivery", "Round-Trip Time Estimation".
 */
#ifndef PROTO_SRT_CLOCK_H
#define PROTO_SRT_CLOCK_H

#include "co/co.h"

#include <stdbool.h>
#include <stdint.h>

struct srt_clock {
    co_usec base;          /* when the peer's clock was 0, by ours, its way to us included */
    co_usec rtt, variance; /* smoothed */
    /* ours */
    bool has_rtt, has_usual;
    co_usec usual;         /* the round trip while `base` was found */
    co_usec since;         /* the samples of drift began then */
    int64_t drift_sum, rtt_sum;
    unsigned samples;
};

void srt_clock_init(struct srt_clock *c, co_usec base);
/* A timestamp of 32 bits as microseconds from the peer's zero on: what it can be at that time. */
co_usec srt_clock_unwrap(const struct srt_clock *c, uint32_t time, co_usec now);
/* An answer of the peer, which wrote `time` into it, came after a round trip. */
void srt_clock_sample(struct srt_clock *c, co_usec rtt, uint32_t time, co_usec now);

#endif
