/* SPDX-License-Identifier: MIT */
/* rtsp_udp.h - a player's sockets: a pair for each track, as real players have them. */
#ifndef TOOLS_LOAD_RTSP_UDP_H
#define TOOLS_LOAD_RTSP_UDP_H

#include "tools/load/rtp.h"
#include "tools/load/rtsp.h"

struct load_udp_track {
    struct load_rtp *rtp;
    struct load_rtp_track *track;
    struct load_pair pair;
    uint64_t told;             /* of what was lost here */
};

struct load_udp {
    struct load_rtp *rtp;
    struct co_group group;     /* who read media */
    struct load_udp_track tracks[LOAD_RTP_TRACKS];
    uint32_t ssrc;             /* of our reports */
    co_usec report_due;
};

void  load_udp_init(struct load_udp *u, struct load_rtp *rtp);
/* A track is set up: media is read from now on. */
err_t load_udp_begin(struct load_udp *u, unsigned track) __attribute__((warn_unused_result));
/* Once a second: read reports, send some. */
void  load_udp_tick(struct load_udp *u);
/* Yields: readers end. */
void  load_udp_fini(struct load_udp *u);

#endif
