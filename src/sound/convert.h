/* SPDX-License-Identifier: MIT */
/* convert.h - sound of one codec in, of another one out: decoder, line, encoder.
 *
 *     c = sound_convert_new(AV_OPUS, 48000);
 *     sound_convert_put(c, &in);
 *     while (sound_convert_step(c, &out))         a fraction of a millisecond each
 *         if (out.size > 0) ... use out
 *
 * Time is that of what came in: as samples are counted (line.h), less what the encoder looks ahead,
 * so sound and picture stay together. For any thread, one at a time; no log, no errors.
 */
#ifndef SOUND_CONVERT_H
#define SOUND_CONVERT_H

#include "sound/decoder.h"
#include "sound/encoder.h"

struct sound_convert; /* owned by who made it */

/* The configuration of all AAC that comes out: LC, 48 kHz, two channels. */
enum { SOUND_AAC_CONFIG = 2 };
extern const uint8_t sound_aac_config[SOUND_AAC_CONFIG];

struct sound_in {
    enum av_codec codec;
    bool config;         /* a decoder configuration: for the frames after it */
    int64_t time;        /* 1/90000 s */
    const uint8_t *data; /* borrowed */
    size_t size;
};

struct sound_out {
    const uint8_t *data; /* valid until the next call */
    size_t size;         /* 0: nothing is ready yet */
    int64_t time;        /* 1/90000 s */
};

struct sound_counts {
    uint64_t in, out;    /* frames */
    uint64_t bad;        /* that could not be decoded */
    uint64_t early;      /* that came before a configuration */
    uint64_t silence, skipped; /* samples that were put in, left out */
    uint64_t moves;      /* to another time */
};

struct sound_convert *sound_convert_new(enum av_codec to, int bitrate);
void sound_convert_free(struct sound_convert *c); /* NULL is fine */
/* Will it open a decoder or an encoder for that? They take a millisecond and more. */
bool sound_convert_opens(const struct sound_convert *c, const struct sound_in *in);
/* After it sound_convert_step() until that is done. */
void sound_convert_put(struct sound_convert *c, const struct sound_in *in);
/* False: all is done that was put. */
bool sound_convert_step(struct sound_convert *c, struct sound_out *out);
const struct sound_counts *sound_convert_counts(const struct sound_convert *c);

#endif
