/* SPDX-License-Identifier: MIT */
/* align.h - times of the tracks of one sender on one clock.
 *
 * Each track counts from a number of its own. Sender reports say what moment that is, so with one
 * of each track they are in step; until then it goes by when they came. What comes to light within
 * the first seconds is set right at once, later it is worked off slowly: time never jumps for that.
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
    int64_t offset;   /* of the track's times, 1/90000 s */
    int64_t due;      /* what is to be added to it yet */
    int64_t moved;    /* the track's time when some was added last */
    int64_t sr_time;  /* ticks without wrap, and the moment that is, microseconds since 1970 */
    int64_t sr_at;
};

/* Zeroed it has begun; set `clock` of each track. */
struct rtp_align {
    struct rtp_align_track track[RTP_ALIGN_TRACKS];
    bool started;
    co_usec begun;    /* when the first payload came */
    unsigned leader;  /* its track, which the others go by */
    int64_t newest;   /* the largest time so far, and when its payload came */
    co_usec newest_at;
};

/* The time, 1/90000 s, of a payload of that track that is stamped `ticks`, without wrap, and came
 * at `now`. The first one is at 0. `restart`: its numbers have nothing to do with those before. */
int64_t rtp_align_time(struct rtp_align *a, unsigned track, int64_t ticks, bool restart,
                       co_usec now);
/* A sender report of a track, its timestamp without wrap near `ticks`. */
void rtp_align_sr(struct rtp_align *a, unsigned track, const struct rtcp_sr *sr, int64_t ticks,
                  co_usec now);

#endif
