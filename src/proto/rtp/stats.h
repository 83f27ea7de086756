/* SPDX-License-Identifier: MIT */
/* stats.h - what a receiver knows of a source: packets, losses, jitter; [RFC 3550] 6.4.1, A.1,
 * A.3 and A.8. */
#ifndef PROTO_RTP_STATS_H
#define PROTO_RTP_STATS_H

#include "co/co.h"
#include "proto/rtp/rtcp.h"

struct rtp_stats {
    uint32_t clock;       /* ticks per second of the source's timestamps */
    bool started;
    int64_t first, highest; /* sequence numbers without their wrap */
    uint64_t packets, bytes; /* that came, of payload; those that came twice too */
    uint64_t expected_before; /* by the numberings that are over */
    uint64_t expected_then, packets_then; /* at the last report */
    uint64_t jitter;      /* times 16, in ticks */
    uint32_t time;        /* of the newest packet, and when that came */
    co_usec at;
};

void rtp_stats_init(struct rtp_stats *s, uint32_t clock);
/* The source begins anew, with another numbering: what was counted stays. */
void rtp_stats_restart(struct rtp_stats *s);
/* Any packet that came, in whatever order. */
void rtp_stats_add(struct rtp_stats *s, int64_t seq, uint32_t time, size_t bytes, co_usec now);
/* How many are missing by now; never less than 0. */
uint64_t rtp_stats_lost(const struct rtp_stats *s);
/* In seconds. */
double rtp_stats_jitter(const struct rtp_stats *s);
/* All of a block but who, and what is of its sender report; the fraction is since the last call. */
void rtp_stats_report(struct rtp_stats *s, struct rtcp_block *b);

#endif
