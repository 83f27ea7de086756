/* SPDX-License-Identifier: MIT */
/* align.c - puts the timestamps of a sender's tracks on one clock. */
#include "proto/rtp/align.h"

#include "proto/rtp/header.h"
#include "proto/rtp/sender.h"

enum { SLOW = 200 }; /* corrects 1/200 of the elapsed time: 5 ms per second */

#define TICKS(us) ((us) * 9 / 100)
#define NONSENSE TICKS(CO_SECONDS(10)) /* clocks further apart than this are not credible */

/* Computes the error of the track's offset from the sender reports. Returns false if they do not
 * tell it. */
static bool offset_due(const struct rtp_align *a, const struct rtp_align_track *t, int64_t *due)
{
    const struct rtp_align_track *lead = &a->track[a->leader];
    int64_t is, be;

    if (t == lead || !t->started || !t->has_sr || !lead->has_sr)
        return false;
    is = rtp_ticks_back(t->sr_time, t->clock) + t->offset;
    be = rtp_ticks_back(lead->sr_time, lead->clock) + lead->offset +
         TICKS(t->sr_at - lead->sr_at);
    *due = be - is;
    return *due < NONSENSE && *due > -NONSENSE;
}

static void set_due(struct rtp_align *a, struct rtp_align_track *t, bool at_once)
{
    int64_t due;

    if (!offset_due(a, t, &due))
        return;
    t->due = at_once ? 0 : due;
    t->offset += at_once ? due : 0;
}

/* Start time of a track, by its arrival. A track that restarts continues where the others are,
 * because they may run faster than real time: a file is sent as fast as possible. */
static int64_t here(const struct rtp_align *a, const struct rtp_align_track *t, co_usec now)
{
    return t->started ? a->newest + TICKS(now - a->newest_at) : TICKS(now - a->begun);
}

static void start(struct rtp_align *a, struct rtp_align_track *t, int64_t ticks, co_usec now)
{
    int64_t time;

    if (!a->started) {
        a->started = true;
        a->begun = now;
        a->leader = (unsigned)(t - a->track);
    }
    time = here(a, t, now);
    t->started = true;
    t->offset = time - rtp_ticks_back(ticks, t->clock);
    t->due = 0;
    t->sr_time = rtp_unwrap32(ticks, (uint32_t)(uint64_t)t->sr_time);
    t->moved = time;
    set_due(a, t, true);
}

static int64_t note(struct rtp_align *a, int64_t time, co_usec now)
{
    if (time > a->newest || a->newest_at == 0) {
        a->newest = time;
        a->newest_at = now;
    }
    return time;
}

/* Applies part of the correction, in proportion to the track's progress. */
static void move(struct rtp_align_track *t, int64_t time)
{
    int64_t most = (time - t->moved) / SLOW, step = t->due;

    if (most <= 0)
        return;
    if (step > most)
        step = most;
    if (step < -most)
        step = -most;
    t->moved = time;
    t->offset += step;
    t->due -= step;
}

int64_t rtp_align_time(struct rtp_align *a, unsigned track, int64_t ticks, bool restart,
                       co_usec now)
{
    struct rtp_align_track *t = &a->track[track % RTP_ALIGN_TRACKS];

    if (restart)
        t->has_sr = false;
    if (!t->started || restart)
        start(a, t, ticks, now);
    if (t->due != 0)
        move(t, rtp_ticks_back(ticks, t->clock) + t->offset);
    return note(a, rtp_ticks_back(ticks, t->clock) + t->offset, now);
}

void rtp_align_sr(struct rtp_align *a, unsigned track, const struct rtcp_sr *sr, int64_t ticks,
                  co_usec now)
{
    struct rtp_align_track *t = &a->track[track % RTP_ALIGN_TRACKS];
    bool at_once = a->started && now - a->begun <= RTP_ALIGN_AT_ONCE;

    if (sr->ntp == 0) /* 6.4.1: the sender has no wall clock */
        return;
    t->has_sr = true;
    t->sr_time = t->started ? rtp_unwrap32(ticks, sr->time) : sr->time;
    t->sr_at = rtcp_unix_us(sr->ntp);
    for (unsigned i = 0; i < RTP_ALIGN_TRACKS; i++)
        set_due(a, &a->track[i], at_once);
}
