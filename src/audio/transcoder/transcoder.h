/* SPDX-License-Identifier: MIT */
/* transcoder.h - converts the audio of a stream in the background.
 *
 * Converted frames are delivered by a callback on the same thread, some milliseconds later and in
 * order. Each transcoder has a coroutine. A few transcoders of a thread convert there, on a stack
 * large enough for codecs; further ones use helper threads, which also open codecs. Frames that
 * arrive too fast are dropped and counted.
 */
#ifndef AUDIO_TRANSCODER_TRANSCODER_H
#define AUDIO_TRANSCODER_TRANSCODER_H

#include "co/co.h"
#include "audio/convert.h"

struct transcoder; /* owned by the caller of transcoder_open() */

struct transcoder_opts {
    struct co_group *group; /* group of its coroutine */
    const char *name;       /* name of the stream, for the log; copied */
    enum av_codec to;
    int bitrate;
    /* Receives a frame (borrowed); must not yield, and may close the transcoder. */
    void (*on_frame)(void *arg, const struct audio_out *out);
    /* Called when all ready frames were delivered, under the same rules; or NULL. */
    void (*on_rest)(void *arg);
    void *arg;
};

/* Statistics of all transcoders of this thread, to Opus and to AAC; only 64-bit words. */
struct transcoder_stat {
    uint64_t running[2]; /* current number */
    uint64_t opened[2];
    uint64_t frames[2];  /* output frames */
    uint64_t micros[2];  /* CPU time on any thread */
    uint64_t bad, dropped; /* frames that could not be decoded; that arrived too fast */
    uint64_t silence;      /* inserted for gaps, milliseconds */
};

/* Loads the libraries if needed; returns true if audio can be converted. Yields the first time. */
bool transcoder_prepare(void);
/* Logs, the first time, that the audio of a stream cannot be converted and what is missing. */
void transcoder_lacks(const char *stream, const char *what);

/* Requires loaded libraries. Returns NULL if the coroutine cannot start. */
struct transcoder *transcoder_open(const struct transcoder_opts *opts);
/* No frame is delivered after this. NULL is fine. */
void transcoder_close(struct transcoder *l);
/* Puts a frame or a codec configuration; it is copied. */
void transcoder_put(struct transcoder *l, const struct audio_in *in);

void transcoder_stat(struct transcoder_stat *out);

#endif
