/* SPDX-License-Identifier: MIT */
/* rtp_player.h - a player of an RTP wire, and the packets that it receives. */
#ifndef RTP_PLAYER_H
#define RTP_PLAYER_H

#include "wire/rtp.h"

#include "proto/rtp/rtcp.h"
#include "publisher.h"
#include "wire/rtp_impl.h"

#include <stdio.h>

enum { FRAMES = 33, SEED = 0x1234abcd, ITEMS_MAX = 8192, BOTH = RTP_WIRE_VIDEO | RTP_WIRE_AUDIO };

struct live_source *source_new(void);

/* ---- a player, and what it receives */

struct item {
    unsigned track;
    bool report, bye; /* and one announces the end of the track */
    struct rtp_packet rtp;
    struct rtcp_sr sr; /* the last report */
    uint32_t ssrc;
    const char *cname;
    size_t cname_size;
};

struct ear {
    struct live_consumer c;
    struct wr bytes;
    struct item *v;
    unsigned n;
};

void ear_open(struct ear *e, struct live_source *src, uint32_t tracks, uint32_t mtu);

/* Takes everything, and parses it. */
void ear_take(struct ear *e);
void ear_close(struct ear *e);
const struct item *nth_packet(const struct ear *e, unsigned track, unsigned n);
unsigned packets_of(const struct ear *e, unsigned track);
unsigned byes_of(const struct ear *e);

/* Invariants of each player: numbers increase one by one, all packets are from the stream's sources, counts are
 * right, reports of one moment have one time, which advances; no packet precedes its report. */
void ear_check(const struct ear *e);

#endif
