/* SPDX-License-Identifier: MIT */
/* dts.c - computes decoding times of video frames from their presentation times. */
#include "format/rtp/dts.h"

enum { CLOCK = 90000, JUMP = 10 * CLOCK, EACH = CLOCK / 25, EACH_MIN = CLOCK / 240 };

void rtp_dts_init(struct rtp_dts *d, unsigned depth, double fps)
{
    *d = (struct rtp_dts){ .depth = depth < RTP_DTS_DEPTH_MAX ? depth : RTP_DTS_DEPTH_MAX,
                           .each = EACH };
    if (fps > 1 && fps < CLOCK / EACH_MIN)
        d->each = (int64_t)(CLOCK / fps);
}

static bool jumps(const struct rtp_dts *d, int64_t pts)
{
    int64_t apart = pts - d->last;

    return d->started && (apart > JUMP || apart < -JUMP);
}

static void insert(struct rtp_dts *d, int64_t pts)
{
    unsigned i = d->n++;

    for (; i > 0 && d->held[i - 1] > pts; i--)
        d->held[i] = d->held[i - 1];
    d->held[i] = pts;
}

static int64_t take_first(struct rtp_dts *d)
{
    int64_t first = d->held[0];

    d->n--;
    for (unsigned i = 0; i < d->n; i++)
        d->held[i] = d->held[i + 1];
    return first;
}

int64_t rtp_dts_next(struct rtp_dts *d, int64_t pts)
{
    int64_t dts;

    if (!d->started || jumps(d, pts)) {
        d->started = true;
        d->n = 0;
        d->ahead = d->depth;
        d->last = pts - (int64_t)(d->depth + 1) * d->each;
    }
    insert(d, pts);
    if (d->n > d->depth)
        dts = take_first(d);
    else
        dts = d->last + (d->ahead > 0 ? d->each : 1);
    d->ahead -= d->ahead > 0;
    if (dts <= d->last)
        dts = d->last + 1;
    if (dts > pts && d->depth < RTP_DTS_DEPTH_MAX)
        d->depth++;
    d->last = dts;
    return dts;
}
