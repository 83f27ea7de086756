/* SPDX-License-Identifier: MIT */
/* timeline.h - when samples sound: they are counted, and frames of what comes in say what time it
 * is.
 *
 * Times of those jitter, and what is counted does not. So the count is right until the two are
 * more than 60 ms apart: then a hole is filled with silence, what is there twice is left out, and
 * what is over a second is another time. Pure.
 */
#ifndef AUDIO_TIMELINE_H
#define AUDIO_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

struct audio_timeline { /* zeroed to begin with; fields are line.c's */
    bool begun;
    int64_t base;  /* the time of sample 0, 1/90000 s */
    int64_t count; /* of samples so far */
    int64_t skip;  /* samples to leave out */
};

struct sound_step {
    unsigned silence; /* samples that go in front of it: a second at most */
    unsigned skip;    /* of its own that are left out */
    bool moved;       /* it is another time */
};

/* So many samples come, of that time. */
struct sound_step audio_timeline_put(struct audio_timeline *l, int64_t time, unsigned samples);
/* The time of a sample, by its number. */
int64_t audio_timeline_time(const struct audio_timeline *l, int64_t sample);

#endif
