/* SPDX-License-Identifier: MIT */
/* stats.c - statistics of a source for its receiver: packets, losses, jitter. */
#include "proto/rtp/stats.h"

enum { SCALE = 16 };

void rtp_stats_init(struct rtp_stats *s, uint32_t clock)
{
    *s = (struct rtp_stats){ .clock = clock ? clock : 90000 };
}

static uint64_t expected(const struct rtp_stats *s)
{
    return s->expected_before + (s->started ? (uint64_t)(s->highest - s->first) + 1 : 0);
}

void rtp_stats_restart(struct rtp_stats *s)
{
    s->expected_before = expected(s);
    s->started = false;
}

/* A.8; limited to one second per packet, because a pause of the source is not jitter. */
static void add_jitter(struct rtp_stats *s, uint32_t time, co_usec now)
{
    int64_t most = s->clock, d, apart = now - s->at;

    if (apart < 0 || apart > CO_MS(10000))
        return;
    d = apart * (int64_t)s->clock / CO_MS(1000) - (int32_t)(time - s->time);
    if (d < 0)
        d = -d;
    if (d > most)
        d = most;
    s->jitter += (uint64_t)d - (s->jitter + SCALE / 2) / SCALE;
}

void rtp_stats_add(struct rtp_stats *s, int64_t seq, uint32_t time, size_t bytes, co_usec now)
{
    if (s->started)
        add_jitter(s, time, now);
    else
        s->first = s->highest = seq;
    s->started = true;
    if (seq > s->highest)
        s->highest = seq;
    if (seq < s->first)
        s->first = seq;
    s->packets++;
    s->bytes += bytes;
    s->time = time;
    s->at = now;
}

uint64_t rtp_stats_lost(const struct rtp_stats *s)
{
    uint64_t n = expected(s);

    return n > s->packets ? n - s->packets : 0;
}

double rtp_stats_jitter(const struct rtp_stats *s)
{
    return (double)s->jitter / SCALE / s->clock;
}

/* A.3; `lost` is sent as 24 bits. */
void rtp_stats_report(struct rtp_stats *s, struct rtcp_block *b)
{
    uint64_t n = expected(s), due = n - s->expected_then, came = s->packets - s->packets_then;
    int64_t lost = (int64_t)(n - s->packets);

    b->fraction = due > came ? (uint8_t)(((due - came) << 8) / due) : 0;
    b->lost = lost > INT32_MAX ? INT32_MAX : lost < INT32_MIN ? INT32_MIN : (int32_t)lost;
    b->highest = (uint32_t)s->highest;
    b->jitter = (uint32_t)(s->jitter / SCALE);
    s->expected_then = n;
    s->packets_then = s->packets;
}
