/* SPDX-License-Identifier: MIT */
/* flv_time.c - continuous times for a whole file, even if its tags jump.
 *
 * Times jump in files that were joined, or whose publisher restarted. A track that jumps continues
 * at the file's current time; the other track follows when it makes the same jump, so that both
 * stay in sync.
 */
#include "format/demux/flv_impl.h"

enum { GOES_ON = 20 }; /* ms after the last time */

static int32_t distance(const struct flv_time *t, unsigned track, uint32_t raw, uint32_t shift)
{
    return (int32_t)(raw + shift - (uint32_t)t->v[track].last);
}

static bool fits(int32_t delta)
{
    return delta >= -FLV_BACK_MAX && delta <= FLV_GAP_MAX;
}

/* Continues a track after its clock has jumped. */
static void join(struct flv_time *t, unsigned track, uint32_t raw)
{
    unsigned other = 1 - track;
    bool together = t->v[other].known;

    if (!t->v[track].known)
        t->v[track].last = together ? t->v[other].last : 0;
    if (together && fits(distance(t, track, raw, t->v[other].shift)) &&
        distance(t, other, raw, t->v[other].shift) <= FLV_GAP_MAX) {
        t->v[track].shift = t->v[other].shift;
    } else {
        int32_t from = t->v[track].last;

        if (together && t->v[other].last > from)
            from = t->v[other].last;
        if (t->v[track].known || together)
            from += GOES_ON;
        t->v[track].shift = (uint32_t)from - raw;
    }
    t->v[track].known = true;
}

int32_t demux_flv_time(struct flv_time *t, unsigned track, uint32_t raw)
{
    int32_t delta;

    if (!t->v[track].known || !fits(distance(t, track, raw, t->v[track].shift)))
        join(t, track, raw);
    delta = distance(t, track, raw, t->v[track].shift);
    if (delta > 0 && t->v[track].last < FLV_TIME_MAX)
        t->v[track].last += delta;
    return t->v[track].last;
}
