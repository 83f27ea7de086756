/* SPDX-License-Identifier: MIT */
/* time.c - the own time of a stream's HLS: without the jumps and gaps of what comes in.
 *
 * A publisher that stalls for 20 s, or whose clock jumps, would make a segment of 20 s, or one that
 * begins before it ends. Nothing was lost in between, so the stream simply goes on where it was;
 * all tracks move together. The wall clock in the playlist tells the truth.
 */
#include "sink/hls/segment/time.h"

#define BACK AV_MS(1000)  /* so far back is a jump, less is disorder */
#define FRAME AV_MS(40)   /* how long a frame lasts before one is known */

void hls_time_restart(struct hls_time *t)
{
    t->started = false;
}

int64_t hls_time_end(const struct hls_time *t)
{
    int64_t end = 0;

    for (int k = 0; k < 2; k++) {
        int64_t mine = t->last[k] + (t->usual[k] ? t->usual[k] : FRAME);

        if (t->seen[k] && mine > end)
            end = mine;
    }
    return end;
}

static bool jumps(const struct hls_time *t, int k, int64_t at, int64_t gap_max)
{
    int64_t newest = t->last[0] > t->last[1] ? t->last[0] : t->last[1];

    if (!t->seen[0] && !t->seen[1])
        return false;
    return (t->seen[k] ? at < t->last[k] - BACK : at < newest - BACK - gap_max) ||
           at > newest + gap_max;
}

void hls_time_apply(struct hls_time *t, struct frame *f, int64_t gap_max)
{
    int k = f->kind == AV_VIDEO ? 0 : 1;
    int64_t at = f->dts + t->offset, cts = f->pts - f->dts;

    if (!t->started || jumps(t, k, at, gap_max)) {
        t->offset = hls_time_end(t) - f->dts;
        at = f->dts + t->offset;
        t->started = true;
    }
    if (t->seen[k] && at <= t->last[k])
        at = t->last[k] + 1;
    if (at < 0)
        at = 0;
    if (t->seen[k] && at - t->last[k] > 1 && at - t->last[k] < AV_MS(1000))
        t->usual[k] = at - t->last[k];
    t->last[k] = at;
    t->seen[k] = true;
    f->dts = at;
    f->pts = at + cts;
}
