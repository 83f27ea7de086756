/* SPDX-License-Identifier: MIT */
/* timeline.h - assigns times to samples by counting them.
 *
 * The times of input frames have jitter, a count of samples has not. So the count decides until the
 * two differ by more than 60 ms: then a gap is filled with silence, overlapping samples are
 * dropped, and a difference of over a second is a jump of the time. Pure.
 */
#ifndef AUDIO_TIMELINE_H
#define AUDIO_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

struct audio_timeline { /* initially zero; private to timeline.c */
    bool begun;
    int64_t base;  /* time of sample 0, 1/90000 s */
    int64_t count; /* number of samples so far */
    int64_t skip;  /* samples to drop */
};

struct audio_timeline_step {
    unsigned silence; /* samples of silence to insert before it; at most a second */
    unsigned skip;    /* samples of the frame to drop */
    bool moved;       /* the time has jumped */
};

/* Adds a frame of this many samples with that time. */
struct audio_timeline_step audio_timeline_put(struct audio_timeline *l, int64_t time,
                                              unsigned samples);
/* Returns the time of a sample number. */
int64_t audio_timeline_time(const struct audio_timeline *l, int64_t sample);

#endif
