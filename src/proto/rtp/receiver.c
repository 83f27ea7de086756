/* SPDX-License-Identifier: MIT */
/* receiver.c - receives one RTP track. */
#include "proto/rtp/receiver.h"

#include "proto/rtp/header.h"

void rtp_receiver_init(struct rtp_receiver *rx, const struct rtp_receiver_opts *opts)
{
    *rx = (struct rtp_receiver){ .opts = *opts };
    rtp_reorder_init(&rx->order, opts->window, opts->wait);
    rtp_stats_init(&rx->stats, opts->clock);
}

void rtp_receiver_fini(struct rtp_receiver *rx)
{
    rtp_reorder_fini(&rx->order);
}

/* Switches to another source; drops the waiting packets of the old one. */
static void begin(struct rtp_receiver *rx, uint32_t ssrc)
{
    rx->restart = rx->started;
    if (rx->started) {
        struct rtp_reorder old = rx->order;

        rtp_reorder_fini(&rx->order);
        rtp_reorder_init(&rx->order, old.window, old.wait);
        rx->order.late = old.late;
        rx->order.far = old.far;
        rx->order.reordered = old.reordered;
        rx->order.restarts = old.restarts + 1;
        rtp_stats_restart(&rx->stats);
    }
    rx->started = true;
    rx->has_sr = false;
    rx->ssrc = ssrc;
}

/* Whether packets of this source are accepted. Over a connection there is only one sender, so any
 * source is. */
static bool is_accepted(struct rtp_receiver *rx, uint32_t ssrc, co_usec now)
{
    if (rx->started && ssrc == rx->ssrc)
        return true;
    if (rx->started && rx->opts.window > 1 && now - rx->received_at < RTP_SSRC_SILENCE && !rx->over)
        return false;
    begin(rx, ssrc);
    rx->over = false;
    return true;
}

void rtp_receiver_over(struct rtp_receiver *rx)
{
    rx->over = true;
}

static void count(struct rtp_receiver *rx, const struct rtp_packet *p, uint64_t restarts,
                  co_usec now)
{
    if (rx->order.restarts != restarts)
        rtp_stats_restart(&rx->stats);
    rx->seq = rx->stats.started ? rtp_unwrap16(rx->stats.highest, p->seq) : p->seq;
    rtp_stats_add(&rx->stats, rx->seq, p->time, p->payload_size, now);
}

enum rtp_put rtp_receiver_put(struct rtp_receiver *rx, const uint8_t *data, size_t size,
                              co_usec now)
{
    struct rtp_packet p;
    uint64_t restarts, far = rx->order.far;
    bool taken;

    if (rtp_is_rtcp(data, size))
        return RTP_IS_RTCP;
    if (!rtp_parse(&p, data, size)) {
        rx->bad++;
        return RTP_DROPPED;
    }
    if (p.type != rx->opts.type) {
        rx->other_type++;
        return RTP_DROPPED;
    }
    if (!is_accepted(rx, p.ssrc, now)) {
        rx->other_ssrc++;
        return RTP_DROPPED;
    }
    rx->received_at = now;
    restarts = rx->order.restarts;
    taken = rtp_reorder_put(&rx->order, p.seq, data, size, now);
    if (taken || rx->order.far == far) /* packets far outside the window may be forged */
        count(rx, &p, restarts, now);
    return taken ? RTP_TAKEN : RTP_DROPPED;
}

static void read_time(struct rtp_receiver *rx, const struct rtp_packet *p, bool restart)
{
    if (restart || !rx->timed)
        rx->time = p->time;
    else
        rx->time = rtp_unwrap32(rx->time, p->time);
    rx->timed = true;
}

bool rtp_receiver_next(struct rtp_receiver *rx, co_usec now, struct rtp_received *got)
{
    struct rtp_ordered o;
    struct rtp_packet p;
    uint64_t lost = 0;

    while (rtp_reorder_next(&rx->order, now, &o)) {
        lost += o.lost;
        rx->restart |= o.restart;
        if (!rtp_parse(&p, o.data, o.size) || p.payload_size == 0)
            continue; /* no payload: a keepalive */
        read_time(rx, &p, rx->restart);
        *got = (struct rtp_received){ .payload = p.payload, .size = p.payload_size,
                                      .time = rx->time, .marker = p.marker, .lost = lost,
                                      .restart = rx->restart };
        rx->restart = false;
        return true;
    }
    rx->order.skipped += lost; /* losses before empty packets are reported with the next payload */
    return false;
}

co_usec rtp_receiver_deadline(const struct rtp_receiver *rx)
{
    return rtp_reorder_deadline(&rx->order);
}

void rtp_receiver_sr(struct rtp_receiver *rx, uint32_t ssrc, const struct rtcp_sr *sr,
                     co_usec now)
{
    if (rx->started && ssrc != rx->ssrc)
        return;
    rx->has_sr = true;
    rx->sr = *sr;
    rx->sr_at = now;
}

/* 6.4.1: LSR and DLSR. */
bool rtp_receiver_report(struct rtp_receiver *rx, co_usec now, struct rtcp_block *b)
{
    if (!rx->stats.started)
        return false;
    *b = (struct rtcp_block){ .ssrc = rx->ssrc };
    rtp_stats_report(&rx->stats, b);
    if (rx->has_sr) {
        b->last_sr = (uint32_t)(rx->sr.ntp >> 16);
        b->delay = (uint32_t)(((uint64_t)(now - rx->sr_at) << 16) / CO_SECONDS(1));
    }
    return true;
}
