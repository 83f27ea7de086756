/* SPDX-License-Identifier: MIT */
/* audio.h - only the audio of a live stream: AAC in ADTS, or MP3 frames. */
#ifndef WIRE_AUDIO_H
#define WIRE_AUDIO_H

#include "live/wire.h"

enum { AUDIO_WIRE_ID3 = 10 + 10 + 5 };

extern const struct live_format aac_wire;
extern const struct live_format mp3_wire;

/* Writes an empty ID3 tag, which some players expect in front of MP3. */
void audio_wire_id3(uint8_t out[AUDIO_WIRE_ID3]);

#endif
