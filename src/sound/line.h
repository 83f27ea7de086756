/* SPDX-License-Identifier: MIT */
/* line.h - when samples sound: they are counted, and frames of what comes in say what time it is.
 *
 * Times of those jitter, and what is counted does not. So the count is right until the two are
 * more than 60 ms apart: then a hole is filled with silence, what is there twice is left out, and
 * what is over a second is another time. Pure.
 */
#ifndef SOUND_LINE_H
#define SOUND_LINE_H

#include <stdbool.h>
#include <stdint.h>

struct sound_line { /* zeroed to begin with; fields are line.c's */
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
struct sound_step sound_line_put(struct sound_line *l, int64_t time, unsigned samples);
/* The time of a sample, by its number. */
int64_t sound_line_time(const struct sound_line *l, int64_t sample);

#endif
