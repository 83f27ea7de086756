/* SPDX-License-Identifier: MIT */
/* decoder.h - decodes audio frames to samples: always 48 kHz, two channels, between -1 and 1.
 *
 * Supports AAC (with SBR and PS, up to eight channels), MP3 and Opus. Frames come from untrusted
 * clients: invalid ones are reported or decoded to noise, nothing worse. Any thread, one at a time;
 * no log, no errors.
 */
#ifndef AUDIO_DECODER_H
#define AUDIO_DECODER_H

#include "av/codec.h"

enum { AUDIO_RATE = 48000, AUDIO_CHANNELS = 2,
       AUDIO_DECODED_MAX = 16384, /* largest decoded frame, samples per channel */
       AUDIO_CODED_MAX = 8192,    /* largest coded frame, bytes */
       AUDIO_CONFIG_MAX = 256 };

struct audio_decoder; /* owned by its creator; about 100 KB */

/* Returns NULL if there is no such decoder, or if it rejects the configuration. Takes a
 * millisecond. */
struct audio_decoder *audio_decoder_new(enum av_codec codec, const uint8_t *config, size_t size);
void audio_decoder_free(struct audio_decoder *d); /* NULL is fine */
/* Decodes a frame to interleaved samples, valid until the next call, and returns their number per
 * channel, or -1 if the frame is invalid. */
int audio_decode(struct audio_decoder *d, const uint8_t *data, size_t size, const float **out);

#endif
