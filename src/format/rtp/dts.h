/* SPDX-License-Identifier: MIT */
/* dts.h - when pictures are decoded, of such that only tell when they are shown.
 *
 * RTP has no decoding times: pictures come in the order of decoding, stamped with when they are
 * shown. A decoder that holds back `depth` pictures shows, at each one that it takes, the earliest
 * of those that it has: so that one's time is the decoding time. Without B pictures both are one.
 *
 * How many it holds back is in the parameters, or not; then it is learnt from times that go back.
 */
#ifndef FORMAT_RTP_DTS_H
#define FORMAT_RTP_DTS_H

#include <stdbool.h>
#include <stdint.h>

enum { RTP_DTS_DEPTH_MAX = 16 };

struct rtp_dts {
    unsigned depth;
    int64_t each;  /* how long a picture lasts, about; in front of the first `depth` of them */
    /* the rest is ours */
    bool started;
    unsigned n;
    unsigned ahead; /* pictures yet that are decoded before the first one is shown */
    int64_t last;
    int64_t held[RTP_DTS_DEPTH_MAX + 1]; /* times of pictures, in order */
};

/* `depth`: what the parameters say, or 0. `fps` 0: not known. Times are in 1/90000 s. */
void rtp_dts_init(struct rtp_dts *d, unsigned depth, double fps);

/* The next picture, in the order of decoding, is shown at pts. What comes is larger than what came
 * before, and not above pts but where more pictures are held back than was known. Where times jump
 * by seconds, it begins anew. */
int64_t rtp_dts_next(struct rtp_dts *d, int64_t pts);

#endif
