/* SPDX-License-Identifier: MIT */
/* convert.h - sound of one codec in, of another one out: decoder, line, encoder.
 *
 *     c = audio_convert_new(AV_OPUS, 48000);
 *     audio_convert_put(c, &in);
 *     while (audio_convert_step(c, &out))         a fraction of a millisecond each
 *         if (out.size > 0) ... use out
 *
 * Time is that of what came in: as samples are counted (line.h), less what the encoder looks ahead,
 * so sound and picture stay together. For any thread, one at a time; no log, no errors.
 */
#ifndef AUDIO_CONVERT_H
#define AUDIO_CONVERT_H

#include "audio/decoder.h"
#include "audio/encoder.h"

struct audio_convert; /* owned by who made it */

/* The configuration of all AAC that comes out: LC, 48 kHz, two channels. */
enum { AUDIO_AAC_CONFIG = 2 };
extern const uint8_t audio_aac_config[AUDIO_AAC_CONFIG];

struct audio_in {
    enum av_codec codec;
    bool config;         /* a decoder configuration: for the frames after it */
    int64_t time;        /* 1/90000 s */
    const uint8_t *data; /* borrowed */
    size_t size;
};

struct audio_out {
    const uint8_t *data; /* valid until the next call */
    size_t size;         /* 0: nothing is ready yet */
    int64_t time;        /* 1/90000 s */
};

struct audio_counts {
    uint64_t in, out;    /* frames */
    uint64_t bad;        /* that could not be decoded */
    uint64_t early;      /* that came before a configuration */
    uint64_t silence, skipped; /* samples that were put in, left out */
    uint64_t moves;      /* to another time */
};

struct audio_convert *audio_convert_new(enum av_codec to, int bitrate);
void audio_convert_free(struct audio_convert *c); /* NULL is fine */
/* Will it open a decoder or an encoder for that? They take a millisecond and more. */
bool audio_convert_opens(const struct audio_convert *c, const struct audio_in *in);
/* After it audio_convert_step() until that is done. */
void audio_convert_put(struct audio_convert *c, const struct audio_in *in);
/* False: all is done that was put. */
bool audio_convert_step(struct audio_convert *c, struct audio_out *out);
const struct audio_counts *audio_convert_counts(const struct audio_convert *c);

#endif
