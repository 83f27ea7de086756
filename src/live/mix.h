/* SPDX-License-Identifier: MIT */
/* mix.h - put the packets of a stream in order of time (`mix_correct`).
 *
 * Holds packets back until both audio and video have some, or one of them has many or they are
 * large: a publisher
 * that sends a second of audio and then a second of video leaves as one interleaved stream.
 */
#ifndef LIVE_MIX_H
#define LIVE_MIX_H

#include "av/packet.h"

#include <stdbool.h>

enum { LIVE_MIX_SIZE = 128, LIVE_MIX_BYTES = 8 << 20 };

struct live_mix {
    struct av_packet *queue[LIVE_MIX_SIZE]; /* sorted by dts, owned */
    unsigned count, kinds[AV_KINDS];
    size_t bytes;
};

void live_mix_push(struct live_mix *m, struct av_packet *pkt); /* takes a reference */
/* The next packet in order, with the caller's reference, or NULL when more must come first.
 * `flush`: give what there is. */
struct av_packet *live_mix_pop(struct live_mix *m, bool flush);

#endif
