/* SPDX-License-Identifier: MIT */
/* encoder.h - encodes samples (48 kHz, two channels) to frames of Opus (20 ms) or AAC-LC
 * (21 1/3 ms).
 *
 * Any thread, one at a time; no log, no errors.
 */
#ifndef AUDIO_ENCODER_H
#define AUDIO_ENCODER_H

#include "av/codec.h"

enum { AUDIO_FRAME_MAX = 1024, AUDIO_MADE_MAX = 4096 };

struct audio_encoder; /* owned by its creator; 100 to 300 KB */

/* Returns NULL if there is no such encoder. Takes a millisecond. */
struct audio_encoder *audio_encoder_new(enum av_codec codec, int bitrate);
void audio_encoder_free(struct audio_encoder *e); /* NULL is fine */
/* Number of samples per channel of a frame. */
unsigned audio_encoder_frame(const struct audio_encoder *e);
/* Encodes one frame of interleaved samples; `at` is the number of the first. Returns the size of
 * the frame that is ready, and in *begin the number of its first sample (encoders have a
 * lookahead), or 0 if none is ready. */
size_t audio_encode(struct audio_encoder *e, const float *samples, int64_t at,
                    uint8_t out[AUDIO_MADE_MAX], int64_t *begin);

#endif
