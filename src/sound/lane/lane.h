/* SPDX-License-Identifier: MIT */
/* lane.h - the sound of one stream, converted while others run.
 *
 * Frames go in as they come, and come out by a callback on the same thread, some milliseconds later
 * and in order. A coroutine of the lane converts them: a few lanes of a thread in place, on a stack
 * that is deep enough for codecs, more of them by helper threads; those also open codecs. What
 * comes faster than that is left out, and counted.
 */
#ifndef SOUND_LANE_LANE_H
#define SOUND_LANE_LANE_H

#include "co/co.h"
#include "sound/convert.h"

struct sound_lane; /* owned by who opened it */

struct sound_lane_opts {
    struct co_group *group; /* of its coroutine */
    const char *name;       /* of the stream, for the log; copied */
    enum av_codec to;
    int bitrate;
    /* A frame, borrowed; must not yield, and may close the lane. */
    void (*on_frame)(void *arg, const struct sound_out *out);
    /* All that is ready by now was given; likewise. NULL: nobody wants to know. */
    void (*on_rest)(void *arg);
    void *arg;
};

/* What all lanes of this thread did, to Opus and to AAC; words alone. */
struct sound_lane_stat {
    uint64_t running[2]; /* now */
    uint64_t opened[2];
    uint64_t frames[2];  /* that came out */
    uint64_t micros[2];  /* of processors, whatever thread it was */
    uint64_t bad, dropped; /* frames that could not be decoded; that came too fast */
    uint64_t silence;      /* put in for holes, milliseconds */
};

/* Load the libraries, if nobody did: true if sound can be converted. Yields the first time. */
bool sound_lane_prepare(void);
/* The sound of that stream would have been: the first time the log says what is missing. */
void sound_lane_lacks(const char *stream, const char *what);

/* Only where libraries are loaded. NULL: there is no room for a coroutine. */
struct sound_lane *sound_lane_open(const struct sound_lane_opts *opts);
/* Nothing is given after it. NULL is fine. */
void sound_lane_close(struct sound_lane *l);
/* A frame or a configuration, of which it keeps a copy. */
void sound_lane_put(struct sound_lane *l, const struct sound_in *in);

void sound_lane_stat(struct sound_lane_stat *out);

#endif
