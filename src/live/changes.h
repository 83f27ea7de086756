/* SPDX-License-Identifier: MIT */
/* changes.h - counts how often a publisher changes its decoder configuration.
 *
 * A change is expensive: players get another initialization, HLS and recordings begin another
 * file. Encoders change their configuration once in a while; a publisher that does so with each
 * frame is faulty or hostile. A change is a configuration of a track that differs from the one in
 * force, another codec in the frames of a track, or another picture size in the key frames of a
 * codec that says it there. The first configuration of a track is none.
 */
#ifndef LIVE_CHANGES_H
#define LIVE_CHANGES_H

#include "av/packet.h"
#include "co/co.h"

enum { LIVE_CHANGES_TRACKS = 16 };

struct live_changes { /* starts as zeros with each publisher */
    struct {
        uint32_t id;     /* kind and track number; 0: not in use */
        uint8_t codec;
        uint32_t width, height;
    } v[LIVE_CHANGES_TRACKS];
    int64_t full_at;     /* pace.h */
    bool over;           /* there were too many */
};

/* A packet came; `before` is the configuration packet that it replaces, or NULL. True: that is a
 * change, and there were more than `at_once`, which come back one per second. 0: no limit. */
bool live_changes_exceed(struct live_changes *c, const struct av_packet *pkt,
                         const struct av_packet *before, int at_once, co_usec now);

#endif
