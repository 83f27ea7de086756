/* SPDX-License-Identifier: MIT */
/* stats.h - statistics of a source for its receiver: packets, losses, jitter; [RFC 3550] 6.4.1,
 * A.1, A.3 and A.8.
 */
#ifndef PROTO_RTP_STATS_H
#define PROTO_RTP_STATS_H

#include "co/co.h"
#include "proto/rtp/rtcp.h"

struct rtp_stats {
    uint32_t clock;       /* ticks per second of the source's timestamps */
    bool started;
    int64_t first, highest; /* sequence numbers without wrap */
    uint64_t packets, bytes; /* received packets and payload bytes, including duplicates */
    uint64_t expected_before; /* packets expected in previous numberings */
    uint64_t expected_then, packets_then; /* at the last report */
    uint64_t jitter;      /* 16 times the jitter, in ticks */
    uint32_t time;        /* timestamp of the newest packet, and its arrival */
    co_usec at;
};

void rtp_stats_init(struct rtp_stats *s, uint32_t clock);
/* The source restarts with another numbering; the counters continue. */
void rtp_stats_restart(struct rtp_stats *s);
/* Counts a received packet, in any order. */
void rtp_stats_add(struct rtp_stats *s, int64_t seq, uint32_t time, size_t bytes, co_usec now);
/* Number of packets missing so far; never negative. */
uint64_t rtp_stats_lost(const struct rtp_stats *s);
/* Interarrival jitter in seconds. */
double rtp_stats_jitter(const struct rtp_stats *s);
/* Fills a block except its ssrc and the fields about the sender report. The fraction covers the
 * time since the last call. */
void rtp_stats_report(struct rtp_stats *s, struct rtcp_block *b);

#endif
