/* SPDX-License-Identifier: MIT */
/* receiver.h - one track that comes in: from datagrams or interleaved packets to payloads in order,
 * with what is told about them.
 *
 *     switch (rtp_receiver_put(&rx, data, size, now)) ...     RTP_IS_RTCP: it came on that channel
 *     while (rtp_receiver_next(&rx, now, &got)) ...           also at rtp_receiver_deadline()
 *
 * Payloads point into `data`, or into what the receiver holds, until the next call.
 */
#ifndef PROTO_RTP_RECEIVER_H
#define PROTO_RTP_RECEIVER_H

#include "proto/rtp/reorder.h"
#include "proto/rtp/rtcp.h"
#include "proto/rtp/stats.h"

/* So long the one that we hear must be silent before another takes its place. */
#define RTP_SSRC_SILENCE CO_SECONDS(1)

struct rtp_receiver_opts {
    uint8_t type;      /* payload type */
    uint32_t clock;    /* ticks per second */
    unsigned window;   /* packets that may wait for one that is missing; 1: the order is given */
    co_usec wait;      /* and so long */
};

struct rtp_receiver {
    struct rtp_receiver_opts opts;
    struct rtp_reorder order;
    struct rtp_stats stats;
    bool started;
    bool over;         /* another may take its place at once */
    bool restart;      /* what comes next is another source's */
    uint32_t ssrc;
    int64_t seq;       /* the newest that was counted */
    int64_t time;      /* of the newest payload, without its wrap */
    bool timed;        /* that is set */
    co_usec heard;
    bool has_sr;
    struct rtcp_sr sr; /* its last sender report, and when that came */
    co_usec sr_at;
    uint64_t bad, other_type, other_ssrc; /* packets that were dropped */
};

enum rtp_put { RTP_TAKEN, RTP_DROPPED, RTP_IS_RTCP };

struct rtp_received {
    const uint8_t *payload;
    size_t size;       /* > 0 */
    int64_t time;      /* in ticks, without its wrap */
    bool marker;
    uint64_t lost;     /* packets that are missing right before it */
    bool restart;      /* numbers and times have nothing to do with those before */
};

void rtp_receiver_init(struct rtp_receiver *rx, const struct rtp_receiver_opts *opts);
void rtp_receiver_fini(struct rtp_receiver *rx);

enum rtp_put rtp_receiver_put(struct rtp_receiver *rx, const uint8_t *data, size_t size,
                              co_usec now);
/* The source that we hear has ended, as far as we are concerned. */
void rtp_receiver_over(struct rtp_receiver *rx);
bool rtp_receiver_next(struct rtp_receiver *rx, co_usec now, struct rtp_received *got);
co_usec rtp_receiver_deadline(const struct rtp_receiver *rx); /* CO_FOREVER: none */

/* A sender report of that source; others' are left alone. */
void rtp_receiver_sr(struct rtp_receiver *rx, uint32_t ssrc, const struct rtcp_sr *sr,
                     co_usec now);
/* What to tell the source. False: nothing came yet. */
bool rtp_receiver_report(struct rtp_receiver *rx, co_usec now, struct rtcp_block *b);

#endif
