/* SPDX-License-Identifier: MIT */
/* transcoder.h - the sound of one stream, converted while others run.
 *
 * Frames go in as they come, and come out by a callback on the same thread, some milliseconds later
 * and in order. A coroutine of the lane converts them: a few lanes of a thread in place, on a stack
 * that is deep enough for codecs, more of them by helper threads; those also open codecs. What
 * comes faster than that is left out, and counted.
 */
#ifndef AUDIO_TRANSCODER_TRANSCODER_H
#define AUDIO_TRANSCODER_TRANSCODER_H

#include "co/co.h"
#include "audio/convert.h"

struct transcoder; /* owned by who opened it */

struct transcoder_opts {
    struct co_group *group; /* of its coroutine */
    const char *name;       /* of the stream, for the log; copied */
    enum av_codec to;
    int bitrate;
    /* A frame, borrowed; must not yield, and may close the lane. */
    void (*on_frame)(void *arg, const struct audio_out *out);
    /* All that is ready by now was given; likewise. NULL: nobody wants to know. */
    void (*on_rest)(void *arg);
    void *arg;
};

/* What all lanes of this thread did, to Opus and to AAC; words alone. */
struct transcoder_stat {
    uint64_t running[2]; /* now */
    uint64_t opened[2];
    uint64_t frames[2];  /* that came out */
    uint64_t micros[2];  /* of processors, whatever thread it was */
    uint64_t bad, dropped; /* frames that could not be decoded; that came too fast */
    uint64_t silence;      /* put in for holes, milliseconds */
};

/* Load the libraries, if nobody did: true if sound can be converted. Yields the first time. */
bool transcoder_prepare(void);
/* The sound of that stream would have been: the first time the log says what is missing. */
void transcoder_lacks(const char *stream, const char *what);

/* Only where libraries are loaded. NULL: there is no room for a coroutine. */
struct transcoder *transcoder_open(const struct transcoder_opts *opts);
/* Nothing is given after it. NULL is fine. */
void transcoder_close(struct transcoder *l);
/* A frame or a configuration, of which it keeps a copy. */
void transcoder_put(struct transcoder *l, const struct audio_in *in);

void transcoder_stat(struct transcoder_stat *out);

#endif
