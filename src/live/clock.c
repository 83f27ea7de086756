/* SPDX-License-Identifier: MIT */
/* clock.c - corrects the times of a stream's packets once, at its input. */
#include "live/clock.h"

#include <string.h>

/* A packet whose time is further from that of its track counts as a jump: back by more than
 * MAX_BACK, or ahead by more than MAX_AHEAD plus the time that really passed. So one frame a minute
 * is no jump, and neither is a file published at full speed. */
#define MAX_BACK AV_MS(250)
#define MAX_AHEAD AV_MS(3000)
/* Time between the last packet before a jump and the first one after it. */
#define STEP AV_MS(10)

void live_clock_init(struct live_clock *c, enum live_jitter mode)
{
    memset(c, 0, sizeof(*c));
    c->mode = mode;
}

void live_clock_restart(struct live_clock *c)
{
    memset(c->tracks, 0, sizeof(c->tracks));
    c->resume = c->started;
}

static struct live_clock_track *track_of(struct live_clock *c, const struct av_packet *pkt)
{
    uint32_t id = (uint32_t)pkt->kind << 16 | (uint32_t)pkt->track | 1u << 31;

    for (size_t i = 0; i < LIVE_CLOCK_TRACKS; i++) {
        struct live_clock_track *t = &c->tracks[i];

        if (!t->id)
            t->id = id;
        if (t->id == id)
            return t;
    }
    return &c->tracks[LIVE_CLOCK_TRACKS - 1]; /* further tracks share the last entry */
}

static int64_t elapsed(co_usec from, co_usec to)
{
    return to > from ? av_from_us(to - from) : 0;
}

/* Returns the current time of the stream: the last time sent plus the time since then. */
static int64_t here(const struct live_clock *c, co_usec now)
{
    int64_t gap = elapsed(c->last_at, now);

    return c->last + (gap > STEP ? gap : STEP);
}

static bool jumped(const struct live_clock *c, const struct live_clock_track *t, int64_t time,
                   co_usec now)
{
    bool first = !t->at;
    int64_t last = first ? c->last : t->last;
    int64_t gap = elapsed(first ? c->last_at : t->at, now);
    int64_t back = first ? MAX_AHEAD : MAX_BACK; /* a joining track may be a bit behind */

    return time < last - back || time > last + gap + MAX_AHEAD;
}

static void start(struct live_clock *c, int64_t raw, co_usec now)
{
    if (c->resume)
        c->offset = here(c, now) - raw;
    else
        c->offset = -raw;
    c->last = raw + c->offset;
    c->last_at = now;
    c->started = true;
    c->resume = false;
}

/* Returns true for headers and metadata, which do not set the clock: they often have time 0, even
 * in the middle of a stream. */
static bool is_aside(const struct av_packet *pkt)
{
    return pkt->config || pkt->extra || pkt->kind == AV_DATA;
}

static int64_t aside(const struct live_clock *c, int64_t time)
{
    return time < c->last - MAX_BACK || time > c->last + MAX_AHEAD ? c->last : time;
}

static void note(struct live_clock *c, int64_t time, co_usec now)
{
    if (time < c->last && c->mode != LIVE_JITTER_ZERO)
        return;
    c->last = time;
    c->last_at = now;
}

void live_clock_follow(struct live_clock *c, const struct av_packet *pkt, co_usec now)
{
    if (c->mode != LIVE_JITTER_OFF && !is_aside(pkt))
        note(c, pkt->dts, now);
}

int64_t live_clock_correct(struct live_clock *c, const struct av_packet *pkt, int64_t raw,
                           co_usec now)
{
    struct live_clock_track *t = track_of(c, pkt);
    int64_t time;

    if (c->mode == LIVE_JITTER_OFF) {
        t->at = now;
        return raw;
    }
    if (!c->started || c->resume) {
        if (is_aside(pkt))
            return c->last;
        start(c, raw, now);
    }
    time = raw + c->offset;
    if (c->mode == LIVE_JITTER_FULL) {
        if (is_aside(pkt))
            return aside(c, time);
        if (jumped(c, t, time, now)) {
            c->offset = here(c, now) - raw;
            time = raw + c->offset;
        }
        if (t->at && time < t->last)
            time = t->last;
    }
    if (time < 0)
        time = 0;
    t->last = time;
    t->at = now;
    note(c, time, now);
    return time;
}
