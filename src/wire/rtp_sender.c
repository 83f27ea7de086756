/* SPDX-License-Identifier: MIT */
/* rtp_sender.c - a track as interleaved RTP: its packer, numbers and reports. */
#include "wire/rtp_sender.h"

static void on_packet(struct rtp_sink *sink, uint8_t *head, size_t size, bool marker,
                      int64_t ticks)
{
    struct rtp_wire_sender *t = (struct rtp_wire_sender *)sink;

    rtp_interleaved_build(head, t->channel, (uint16_t)(size + RTP_HEADER));
    rtp_sender_head(&t->sender, head + RTP_INTERLEAVED, marker, ticks, size);
}

void rtp_wire_sender_init(struct rtp_wire_sender *t, const uint32_t param[LIVE_PARAMS],
                          unsigned track)
{
    uint32_t seed = param[RTP_WIRE_SEED];

    *t = (struct rtp_wire_sender){ .wanted = param[RTP_WIRE_TRACKS] >> track & 1,
        .channel = rtp_wire_channel(param[RTP_WIRE_TRACKS], track),
        .sink = { .head = RTP_INTERLEAVED + RTP_HEADER, .packet = on_packet },
        .sender = { .ssrc = rtp_wire_ssrc(seed, track), .base = rtp_wire_base(seed, track) } };
}

bool rtp_wire_sender_open(struct rtp_wire_sender *t, enum av_codec codec, uint32_t mtu)
{
    const struct rtp_packer_opts opts = { .codec = codec, .mtu = mtu, .sets = true };
    struct rtp_map map;

    rtp_wire_sender_close(t);
    t->codec = codec;
    t->reported = false;
    t->sender.type = rtp_wire_type(codec);
    t->open = rtp_packer_init(&t->packer, &opts);
    if (rtp_map_of(&map, codec, NULL, 0)) /* its first frame has not set the clock yet */
        t->packer.clock = map.clock;
    t->sender.clock = t->packer.clock;
    return t->open;
}

void rtp_wire_sender_close(struct rtp_wire_sender *t)
{
    if (t->open)
        rtp_packer_fini(&t->packer);
    t->open = false;
}

err_t rtp_wire_sender_pack(struct rtp_wire_sender *t, const struct frame *f, struct wr *out)
{
    t->sink.out = out;
    return rtp_pack(&t->packer, f, &t->sink);
}

/* ---- reports */

/* Reserves the header of a compound packet, filled in after the packet is written. */
static size_t begin(struct wr *out)
{
    size_t at = out->len;

    wr_be(out, 0, RTP_INTERLEAVED);
    return at;
}

static void end(struct wr *out, size_t at, const struct rtp_wire_sender *t)
{
    if (!out->bad)
        rtp_interleaved_build(out->buf + at, (uint8_t)(t->channel + 1),
                              (uint16_t)(out->len - at - RTP_INTERLEAVED));
}

void rtp_wire_sender_report(const struct rtp_wire_sender *t, const char *cname, int64_t moment,
                            int64_t unix_us, struct wr *out)
{
    int64_t ticks = rtp_ticks(moment, t->sender.clock);
    struct rtcp_sr sr = rtp_sender_report(&t->sender, ticks, unix_us);
    size_t at = begin(out);

    rtcp_put_sr(out, t->sender.ssrc, &sr);
    rtcp_put_cname(out, t->sender.ssrc, cname);
    end(out, at, t);
}

/* [RFC 3550] 6.1: a compound begins with a report, even an empty one. */
void rtp_wire_sender_bye(const struct rtp_wire_sender *t, const char *cname, struct wr *out)
{
    size_t at = begin(out);

    rtcp_put_rr(out, t->sender.ssrc, NULL, 0);
    rtcp_put_cname(out, t->sender.ssrc, cname);
    rtcp_put_bye(out, t->sender.ssrc);
    end(out, at, t);
}
