/* SPDX-License-Identifier: MIT */
/* timeline.c - assigns times to samples. */
#include "audio/timeline.h"

#define CLOCK INT64_C(90000)
#define RATE INT64_C(48000)
#define APART (CLOCK * 60 / 1000) /* a smaller difference is jitter */
#define HOLE CLOCK                /* a larger difference is a jump */

static int64_t ticks(int64_t samples)
{
    return samples * CLOCK / RATE;
}

static int64_t samples_in(int64_t ticks)
{
    return ticks * RATE / CLOCK;
}

int64_t audio_timeline_time(const struct audio_timeline *l, int64_t sample)
{
    return l->base + ticks(sample);
}

static void move(struct audio_timeline *l, int64_t time)
{
    l->base = time - ticks(l->count);
    l->skip = 0;
    l->begun = true;
}

struct audio_timeline_step audio_timeline_put(struct audio_timeline *l, int64_t time,
                                              unsigned samples)
{
    int64_t apart = time - audio_timeline_time(l, l->count);
    struct audio_timeline_step s = { 0 };

    s.moved = l->begun && (apart > HOLE || apart < -HOLE);
    if (!l->begun || s.moved)
        move(l, time);
    else if (apart > APART)
        s.silence = (unsigned)samples_in(apart);
    else if (apart < -APART && l->skip == 0)
        l->skip = samples_in(-apart);
    if (s.silence > 0)
        l->skip = 0;
    s.skip = l->skip < samples ? (unsigned)l->skip : samples;
    l->skip -= s.skip;
    l->count += s.silence + (samples - s.skip);
    return s;
}
