/* SPDX-License-Identifier: MIT */
/* audio_clock.c - computes the times of audio frames from the number of their samples. */
#include "format/audio_clock.h"

#include "av/packet.h"

enum { JITTER_SCALE = 16 };

/* Returns how far a frame may be from its timestamp: nearly a frame plus the jitter of timestamps
 * (phones set them when they send, several frames at once). After an outlier it is a whole frame.
 * */
static int64_t reach(const struct audio_clock *c, uint32_t samples)
{
    int64_t least = c->rate / 50, most = samples - samples / 8;

    if (c->loose)
        return c->rate / 10;
    return (most > least ? most : least) + 2 * c->jitter / JITTER_SCALE;
}

/* [RFC 3550] 6.4.1: the mean deviation of the distance of timestamps; pauses do not count. */
static void learn_jitter(struct audio_clock *c, int64_t stamped)
{
    int64_t most = c->rate / 10, off = stamped - c->stamped - (c->next - c->last);

    if (off < 0)
        off = -off;
    if (off > most)
        off = most;
    c->jitter += off - c->jitter / JITTER_SCALE;
}

static int64_t follow(const struct audio_clock *c, int64_t stamped, uint32_t samples)
{
    int64_t late = stamped - c->next, bound = reach(c, samples), step = samples / 32;

    if (samples == 0 || late > bound)
        return stamped;
    if (late < -bound)
        return stamped + bound;
    if (late > bound / 2)
        return c->next + step;
    if (late < -bound / 2)
        return c->next - step;
    return c->next;
}

int64_t audio_clock_next(struct audio_clock *c, int64_t dts, uint32_t samples)
{
    int64_t stamped = dts * (int64_t)c->rate / AV_CLOCK, at = stamped;

    if (c->started && stamped >= c->last - (int64_t)c->rate / 2) {
        learn_jitter(c, stamped);
        at = follow(c, stamped, samples);
        if (at <= c->last)
            at = c->last + 1;
    }
    if (at < 0)
        at = 0;
    c->started = true;
    c->stamped = stamped;
    c->last = at;
    c->next = at + samples;
    return at;
}
