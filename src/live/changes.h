/* SPDX-License-Identifier: MIT */
/* changes.h - counts how often a publisher changes its decoder configuration.
 *
 * A change is expensive: players get a new initialization, and HLS and recordings begin a new file.
 * Encoders change their configuration rarely; a publisher that does so with each frame is faulty or
 * hostile. These count as changes: a configuration of a track that differs from the one in force,
 * another codec in the frames of a track, and another frame size in the key frames of a codec that
 * carries it there. The first configuration of a track does not count.
 */
#ifndef LIVE_CHANGES_H
#define LIVE_CHANGES_H

#include "av/packet.h"
#include "co/co.h"

enum { LIVE_CHANGES_TRACKS = 16 };

struct live_changes { /* zeroed for each publisher */
    struct {
        uint32_t id;     /* kind and track number; 0: unused */
        uint8_t codec;
        uint32_t width, height;
    } v[LIVE_CHANGES_TRACKS];
    int64_t full_at;     /* state of the rate limit (pace.h) */
    bool over;           /* the limit was exceeded */
};

/* Records a packet; `before` is the configuration packet that it replaces, or NULL. Returns true if
 * the packet is a change and exceeds the limit: a burst of `at_once`, refilled by one per second.
 * 0: no limit. */
bool live_changes_exceed(struct live_changes *c, const struct av_packet *pkt,
                         const struct av_packet *before, int at_once, co_usec now);

#endif
