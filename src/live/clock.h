/* SPDX-License-Identifier: MIT */
/* clock.h - corrects the times of a stream's packets once, at its input.
 *
 * All tracks of a publisher share one offset, so audio and video keep their distance. The offset
 * changes only when the publisher's own clock jumps; the stream then continues from its current
 * time.
 */
#ifndef LIVE_CLOCK_H
#define LIVE_CLOCK_H

#include "av/packet.h"
#include "co/co.h"
#include "live/settings.h"

enum { LIVE_CLOCK_TRACKS = 6 };

struct live_clock_track {
    uint32_t id;  /* kind and track number; 0: unused */
    int64_t last; /* last corrected time, 1/90000 s */
    co_usec at;   /* arrival of that packet; 0: none yet */
};

struct live_clock {
    enum live_jitter mode;
    bool started;   /* `offset` is set */
    bool resume;    /* new publisher: continue where the last one ended */
    int64_t offset; /* corrected = raw + offset, 1/90000 s */
    int64_t last;   /* newest corrected time of all tracks */
    co_usec last_at; /* arrival of that packet */
    struct live_clock_track tracks[LIVE_CLOCK_TRACKS];
};

void live_clock_init(struct live_clock *c, enum live_jitter mode);
/* Starts a new publisher, whose times are unrelated to those of the previous one. */
void live_clock_restart(struct live_clock *c);
/* Returns the corrected time of a packet that arrived at `now` with the publisher's time stamp
 * `raw`, 1/90000 s. */
int64_t live_clock_correct(struct live_clock *c, const struct av_packet *pkt, int64_t raw,
                           co_usec now);
/* Records a packet that arrived at `now` with a time that was corrected elsewhere. */
void live_clock_follow(struct live_clock *c, const struct av_packet *pkt, co_usec now);

#endif
