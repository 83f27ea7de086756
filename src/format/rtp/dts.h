/* SPDX-License-Identifier: MIT */
/* dts.h - computes decoding times of video frames from their presentation times.
 *
 * RTP has no decoding times: frames arrive in decoding order with presentation times. A decoder
 * that reorders `depth` frames outputs, for each frame that it decodes, the earliest frame it
 * holds. The presentation time of that frame is used as the decoding time. Without B frames both
 * are equal.
 *
 * The depth comes from the codec parameters, or is learnt from presentation times that go back.
 */
#ifndef FORMAT_RTP_DTS_H
#define FORMAT_RTP_DTS_H

#include <stdbool.h>
#include <stdint.h>

enum { RTP_DTS_DEPTH_MAX = 16 };

struct rtp_dts {
    unsigned depth;
    int64_t each;  /* estimated duration of a frame, used before the first `depth` frames */
    /* The rest is private. */
    bool started;
    unsigned n;
    unsigned ahead; /* frames still to decode before the first output */
    int64_t last;
    int64_t held[RTP_DTS_DEPTH_MAX + 1]; /* presentation times, sorted */
};

/* `depth`: from the codec parameters, or 0. `fps` 0: unknown. Times are in 1/90000 s. */
void rtp_dts_init(struct rtp_dts *d, unsigned depth, double fps);

/* Returns the decoding time of the next frame in decoding order, which is presented at pts. It is
 * larger than the one before, and at most pts unless the depth was underestimated. Restarts if
 * times jump by seconds. */
int64_t rtp_dts_next(struct rtp_dts *d, int64_t pts);

#endif
