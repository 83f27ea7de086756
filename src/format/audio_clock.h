/* SPDX-License-Identifier: MIT */
/* audio_clock.h - the time of audio frames by the count of their samples.
 *
 * RTMP rounds times to milliseconds, and a frame of 1024 samples is no whole number of them. The
 * clock counts samples instead, which decoders like, and stays with the stamped time: a small
 * difference is jitter and ignored, a larger one is worked off frame by frame, a jump is taken.
 */
#ifndef FORMAT_AUDIO_CLOCK_H
#define FORMAT_AUDIO_CLOCK_H

#include "av/codec.h"

struct audio_clock {
    uint32_t rate;  /* ticks per second: the sample rate of the coder */
    bool started;
    int64_t next;   /* when the next frame should begin, in ticks */
};

/* How many samples at `rate` the coded frame has; 0: not known. */
uint32_t audio_samples(enum av_codec codec, const uint8_t *data, size_t size);

/* A frame of `samples`, stamped `dts` (1/90000 s): where it begins, in ticks. The one before it
 * lasts until then. */
int64_t audio_clock_next(struct audio_clock *c, int64_t dts, uint32_t samples);

#endif
