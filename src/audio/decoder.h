/* SPDX-License-Identifier: MIT */
/* decoder.h - frames of sound to samples: always 48 kHz, two channels, between -1 and 1.
 *
 * AAC (with SBR and PS, up to eight channels), MP3 and Opus. Frames come from strangers: what
 * cannot be decoded is said so, and what is decoded of garbage is noise and no more. For any
 * thread, one at a time; no log, no errors.
 */
#ifndef AUDIO_DECODER_H
#define AUDIO_DECODER_H

#include "av/codec.h"

enum { AUDIO_RATE = 48000, AUDIO_CHANNELS = 2,
       AUDIO_DECODED_MAX = 16384, /* samples of each channel that a frame may become */
       AUDIO_CODED_MAX = 8192,    /* bytes of a frame */
       AUDIO_CONFIG_MAX = 256 };

struct audio_decoder; /* owned by who made it; some 100 KB */

/* NULL: there is no such decoder, or it takes no such configuration. Takes a millisecond. */
struct audio_decoder *audio_decoder_new(enum av_codec codec, const uint8_t *config, size_t size);
void audio_decoder_free(struct audio_decoder *d); /* NULL is fine */
/* The samples of a frame, left and right in turn, valid until the next call; how many of each
 * channel. -1: it is broken. */
int audio_decode(struct audio_decoder *d, const uint8_t *data, size_t size, const float **out);

#endif
