/* SPDX-License-Identifier: MIT */
/* sender.c - sends one RTP track: sequence numbers, timestamps and counters. */
#include "proto/rtp/sender.h"

enum { TIMES = 90000 };

void rtp_sender_init(struct rtp_sender *s, uint8_t type, uint32_t clock,
                     const uint8_t random[RTP_SENDER_RANDOM])
{
    struct rd r = rd_init(random, RTP_SENDER_RANDOM);

    *s = (struct rtp_sender){ .type = type, .clock = clock };
    s->ssrc = rd_u32(&r);
    s->base = rd_u32(&r);
    s->seq = rd_u16(&r) & 0x7fff; /* far from the wrap, as [RFC 3711] 3.3.1 recommends */
}

void rtp_sender_head(struct rtp_sender *s, uint8_t out[RTP_HEADER], bool marker, int64_t ticks,
                     size_t payload)
{
    rtp_build(out, marker, s->type, s->seq++, rtp_sender_time(s, ticks), s->ssrc);
    s->packets++;
    s->bytes += (uint32_t)payload;
}

struct rtcp_sr rtp_sender_report(const struct rtp_sender *s, int64_t ticks, int64_t unix_us)
{
    return (struct rtcp_sr){ .ntp = rtcp_ntp(unix_us), .time = rtp_sender_time(s, ticks),
                             .packets = s->packets, .bytes = s->bytes };
}

/* Scales whole seconds separately, so that no product overflows. */
static int64_t scale(int64_t v, int64_t from, int64_t to)
{
    int64_t whole = v / from, part = v % from;

    if (from == to)
        return v;
    if (part < 0) {
        whole--;
        part += from;
    }
    return whole * to + (part * to + from / 2) / from;
}

int64_t rtp_ticks(int64_t time, uint32_t clock)
{
    return scale(time, TIMES, clock);
}

int64_t rtp_ticks_back(int64_t ticks, uint32_t clock)
{
    return scale(ticks, clock, TIMES);
}
