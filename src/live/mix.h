/* SPDX-License-Identifier: MIT */
/* mix.h - sorts the packets of a stream by time (`mix_correct`).
 *
 * It holds packets back until there are some of both audio and video, or many of one kind, or they
 * are large. So a publisher that sends a second of audio and then a second of video becomes one
 * interleaved stream.
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
/* Returns the next packet in order, with a reference for the caller, or NULL if more packets must
 * arrive first. `flush`: returns what is left. */
struct av_packet *live_mix_pop(struct live_mix *m, bool flush);

#endif
