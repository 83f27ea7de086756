/* SPDX-License-Identifier: MIT */
/* sender.h - sends one RTP track: sequence numbers, timestamps and counters.
 *
 * Its output does not depend on the receivers, so many can share it.
 */
#ifndef PROTO_RTP_SENDER_H
#define PROTO_RTP_SENDER_H

#include "proto/rtp/header.h"
#include "proto/rtp/rtcp.h"

struct rtp_sender {
    uint8_t type;      /* payload type */
    uint32_t clock;    /* ticks per second */
    uint32_t ssrc;
    uint16_t seq;      /* sequence number of the next packet */
    uint32_t base;     /* timestamp of tick 0 */
    uint32_t packets, bytes; /* packets sent and their payload bytes, for sender reports */
};

/* Takes unpredictable initial numbers from 12 random bytes. */
enum { RTP_SENDER_RANDOM = 12 };
void rtp_sender_init(struct rtp_sender *s, uint8_t type, uint32_t clock,
                     const uint8_t random[RTP_SENDER_RANDOM]);

static inline uint32_t rtp_sender_time(const struct rtp_sender *s, int64_t ticks)
{
    return s->base + (uint32_t)(uint64_t)ticks;
}

/* Writes the header of the next packet and counts it. */
void rtp_sender_head(struct rtp_sender *s, uint8_t out[RTP_HEADER], bool marker, int64_t ticks,
                     size_t payload);

/* Returns its sender report: tick `ticks` is at `unix_us`, microseconds since 1970. */
struct rtcp_sr rtp_sender_report(const struct rtp_sender *s, int64_t ticks, int64_t unix_us);

/* Convert a time in 1/90000 s to ticks of a clock, rounded, and back. */
int64_t rtp_ticks(int64_t time, uint32_t clock);
int64_t rtp_ticks_back(int64_t ticks, uint32_t clock);

#endif
