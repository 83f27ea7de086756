/* SPDX-License-Identifier: MIT */
/* receiver.h - receives one RTP track: turns datagrams or interleaved packets into payloads in
 * order, with their times and losses.
 *
 *     switch (rtp_receiver_put(&rx, data, size, now)) ...     RTP_IS_RTCP: RTCP on the same channel
 *     while (rtp_receiver_next(&rx, now, &got)) ...           also at rtp_receiver_deadline()
 *
 * Payloads point into `data` or into the receiver's memory, and are valid until the next call.
 */
#ifndef PROTO_RTP_RECEIVER_H
#define PROTO_RTP_RECEIVER_H

#include "proto/rtp/reorder.h"
#include "proto/rtp/rtcp.h"
#include "proto/rtp/stats.h"

/* How long the current source must be silent before another one replaces it. */
#define RTP_SSRC_SILENCE CO_SECONDS(1)

struct rtp_receiver_opts {
    uint8_t type;      /* payload type */
    uint32_t clock;    /* ticks per second */
    unsigned window;   /* most packets that may wait for a missing one; 1: packets are already in
                        * order */
    co_usec wait;      /* longest time that they wait */
};

struct rtp_receiver {
    struct rtp_receiver_opts opts;
    struct rtp_reorder order;
    struct rtp_stats stats;
    bool started;
    bool over;         /* another source may replace this one at once */
    bool restart;      /* the next payload is from another source */
    uint32_t ssrc;
    int64_t seq;       /* highest sequence number counted */
    int64_t time;      /* timestamp of the newest payload, without wrap */
    bool timed;        /* `time` is set */
    co_usec received_at;
    bool has_sr;
    struct rtcp_sr sr; /* last sender report, and its arrival */
    co_usec sr_at;
    uint64_t bad, other_type, other_ssrc; /* dropped packets */
};

enum rtp_put { RTP_TAKEN, RTP_DROPPED, RTP_IS_RTCP };

struct rtp_received {
    const uint8_t *payload;
    size_t size;       /* > 0 */
    int64_t time;      /* in ticks, without wrap */
    bool marker;
    uint64_t lost;     /* packets missing right before it */
    bool restart;      /* numbers and times are unrelated to the previous ones */
};

void rtp_receiver_init(struct rtp_receiver *rx, const struct rtp_receiver_opts *opts);
void rtp_receiver_fini(struct rtp_receiver *rx);

enum rtp_put rtp_receiver_put(struct rtp_receiver *rx, const uint8_t *data, size_t size,
                              co_usec now);
/* The current source has ended, so another one may replace it at once. */
void rtp_receiver_over(struct rtp_receiver *rx);
bool rtp_receiver_next(struct rtp_receiver *rx, co_usec now, struct rtp_received *got);
co_usec rtp_receiver_deadline(const struct rtp_receiver *rx); /* CO_FOREVER: none */

/* Handles a sender report; ignores those of other sources. */
void rtp_receiver_sr(struct rtp_receiver *rx, uint32_t ssrc, const struct rtcp_sr *sr,
                     co_usec now);
/* Fills the report block for the source. Returns false if nothing was received yet. */
bool rtp_receiver_report(struct rtp_receiver *rx, co_usec now, struct rtcp_block *b);

#endif
