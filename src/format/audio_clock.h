/* SPDX-License-Identifier: MIT */
/* audio_clock.h - computes the times of audio frames from the number of their samples.
 *
 * RTMP rounds times to milliseconds, and a frame of 1024 samples is no whole number of them; where
 * a file loops or a publisher comes back, two frames may be closer than one lasts. The clock counts
 * samples instead, which decoders like, and stays within a frame of the stamped time: a small
 * difference is ignored, a larger one is corrected frame by frame, a gap is kept unchanged. It
 * never goes back, unless the timestamps go back by half a second: then it starts from the new
 * time.
 */
#ifndef FORMAT_AUDIO_CLOCK_H
#define FORMAT_AUDIO_CLOCK_H

#include "av/codec.h"

struct audio_clock {
    uint32_t rate;  /* ticks per second: the sample rate of the coder */
    bool loose;     /* follow the count until the stamps are a tenth of a second away */
    bool started;
    int64_t last;   /* when the newest frame began, in ticks */
    int64_t next;   /* when the next one should */
    int64_t stamped, jitter; /* state: stamp of the newest frame; 16 times the stamps' deviation */
};

/* Returns the start, in ticks, of a frame of `samples` with the timestamp `dts` (1/90000 s). The
 * frame before it lasts until then. */
int64_t audio_clock_next(struct audio_clock *c, int64_t dts, uint32_t samples);

#endif
