/* SPDX-License-Identifier: MIT */
/* clock.h - correct the time of a stream's packets, once, where they come in.
 *
 * All tracks of a publisher share one offset, so audio and video keep their distance. It changes
 * only where the publisher's own clock jumped; then the stream goes on from where it was.
 */
#ifndef LIVE_CLOCK_H
#define LIVE_CLOCK_H

#include "av/packet.h"
#include "co/co.h"
#include "live/settings.h"

enum { LIVE_CLOCK_TRACKS = 6 };

struct live_clock_track {
    uint32_t id;  /* kind and track number, 0: not in use */
    int64_t last; /* the last corrected time, 1/90000 s */
    co_usec at;   /* when it came; 0: nothing yet */
};

struct live_clock {
    enum live_jitter mode;
    bool started;   /* offset is set */
    bool resume;    /* a new publisher: go on where the last one ended */
    int64_t offset; /* corrected = raw + offset, 1/90000 s */
    int64_t last;   /* the newest corrected time of all tracks */
    co_usec last_at; /* when that came */
    struct live_clock_track tracks[LIVE_CLOCK_TRACKS];
};

void live_clock_init(struct live_clock *c, enum live_jitter mode);
/* A publisher begins: its times have nothing to do with those of the one before. */
void live_clock_restart(struct live_clock *c);
/* The corrected time of a packet that the publisher stamped with `raw`, 1/90000 s, and that came at
 * `now`. */
int64_t live_clock_correct(struct live_clock *c, const struct av_packet *pkt, int64_t raw,
                           co_usec now);
/* A packet whose time was corrected elsewhere came at `now`. */
void live_clock_follow(struct live_clock *c, const struct av_packet *pkt, co_usec now);

#endif
