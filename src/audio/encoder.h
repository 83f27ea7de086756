/* SPDX-License-Identifier: MIT */
/* encoder.h - samples (48 kHz, two channels) to frames of Opus (20 ms) or AAC-LC (21 1/3 ms).
 *
 * For any thread, one at a time; no log, no errors.
 */
#ifndef AUDIO_ENCODER_H
#define AUDIO_ENCODER_H

#include "av/codec.h"

enum { AUDIO_FRAME_MAX = 1024, AUDIO_MADE_MAX = 4096 };

struct audio_encoder; /* owned by who made it; some 100 to 300 KB */

/* NULL: there is none. Takes a millisecond. */
struct audio_encoder *audio_encoder_new(enum av_codec codec, int bitrate);
void audio_encoder_free(struct audio_encoder *e); /* NULL is fine */
/* How many samples it takes at a time. */
unsigned audio_encoder_frame(const struct audio_encoder *e);
/* So many, left and right in turn, of which the first is number `at`. Gives the frame that is ready
 * by now and the number of the sample that it begins with: coders look ahead. 0: none is. */
size_t audio_encode(struct audio_encoder *e, const float *samples, int64_t at,
                    uint8_t out[AUDIO_MADE_MAX], int64_t *begin);

#endif
