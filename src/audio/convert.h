/* SPDX-License-Identifier: MIT */
/* convert.h - converts audio from one codec to another: decoder, timeline, encoder.
 *
 *     c = audio_convert_new(AV_OPUS, 48000);
 *     audio_convert_put(c, &in);
 *     while (audio_convert_step(c, &out))         a fraction of a millisecond each
 *         if (out.size > 0) ... use out
 *
 * Output times are input times, counted in samples (timeline.h), minus the encoder's lookahead, so
 * audio and video stay in sync. Any thread, one at a time; no log, no errors.
 */
#ifndef AUDIO_CONVERT_H
#define AUDIO_CONVERT_H

#include "audio/decoder.h"
#include "audio/encoder.h"

struct audio_convert; /* owned by its creator */

/* The codec configuration of all AAC output: LC, 48 kHz, two channels. */
enum { AUDIO_AAC_CONFIG = 2 };
extern const uint8_t audio_aac_config[AUDIO_AAC_CONFIG];

struct audio_in {
    enum av_codec codec;
    bool config;         /* a codec configuration for the following frames */
    int64_t time;        /* 1/90000 s */
    const uint8_t *data; /* borrowed */
    size_t size;
};

struct audio_out {
    const uint8_t *data; /* valid until the next call */
    size_t size;         /* 0: no frame is ready yet */
    int64_t time;        /* 1/90000 s */
};

struct audio_counts {
    uint64_t in, out;    /* frames */
    uint64_t bad;        /* frames that could not be decoded */
    uint64_t early;      /* frames before a configuration */
    uint64_t silence, skipped; /* inserted and dropped samples */
    uint64_t moves;      /* jumps of the time */
};

struct audio_convert *audio_convert_new(enum av_codec to, int bitrate);
void audio_convert_free(struct audio_convert *c); /* NULL is fine */
/* Returns true if this input opens a decoder or an encoder, which takes a millisecond or more. */
bool audio_convert_opens(const struct audio_convert *c, const struct audio_in *in);
/* Puts a frame; then call audio_convert_step() until it returns false. */
void audio_convert_put(struct audio_convert *c, const struct audio_in *in);
/* Returns false when all input is processed. */
bool audio_convert_step(struct audio_convert *c, struct audio_out *out);
const struct audio_counts *audio_convert_counts(const struct audio_convert *c);

#endif
