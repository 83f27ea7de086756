/* SPDX-License-Identifier: MIT */
/* align.h - puts the timestamps of a sender's tracks on one clock.
 *
 * Each track counts from its own random number. Sender reports relate these numbers to wall-clock
 * time, so the tracks are in sync once each has one; until then their arrival times are used.
 * Corrections within the first seconds are applied at once, later ones gradually, so that time
 * never jumps.
 */
#ifndef PROTO_RTP_ALIGN_H
#define PROTO_RTP_ALIGN_H

#include "co/co.h"
#include "proto/rtp/rtcp.h"

#include <stdbool.h>

enum { RTP_ALIGN_TRACKS = 4 };

#define RTP_ALIGN_AT_ONCE CO_SECONDS(3)

struct rtp_align_track {
    uint32_t clock;
    bool started, has_sr;
    int64_t offset;   /* added to the track's times, 1/90000 s */
    int64_t due;      /* correction not applied yet */
    int64_t moved;    /* track's time when a correction was last applied */
    int64_t sr_time;  /* ticks without wrap, and the same moment in microseconds since 1970 */
    int64_t sr_at;
};

/* Starts zeroed; set `clock` of each track. */
struct rtp_align {
    struct rtp_align_track track[RTP_ALIGN_TRACKS];
    bool started;
    co_usec begun;    /* arrival of the first payload */
    unsigned leader;  /* its track, which the others follow */
    int64_t newest;   /* largest time so far, and the arrival of its payload */
    co_usec newest_at;
};

/* Returns the time, in 1/90000 s, of a payload of that track with timestamp `ticks` (without wrap)
 * that arrived at `now`. The first one is at 0. `restart`: the timestamps are unrelated to the
 * previous ones. */
int64_t rtp_align_time(struct rtp_align *a, unsigned track, int64_t ticks, bool restart,
                       co_usec now);
/* Handles a sender report of a track. `ticks` is a nearby timestamp without wrap. */
void rtp_align_sr(struct rtp_align *a, unsigned track, const struct rtcp_sr *sr, int64_t ticks,
                  co_usec now);

#endif
