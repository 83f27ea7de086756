/* SPDX-License-Identifier: MIT */
/* rtp_out.c - the frames of a file as packets of RTP of one publisher. */
#include "tools/load/rtp_out.h"

#include "tools/load/run.h"

#include <stdlib.h>

enum { FRAME_MAX = 16 << 20, PACKETS_MAX = sizeof(load_packets.sizes) / sizeof(uint16_t) };

struct load_packets load_packets;

static bool rtc_carries(enum av_codec codec)
{
    return codec == AV_H264 || codec == AV_H265 || codec == AV_AV1 || codec == AV_VP9 ||
           codec == AV_OPUS;
}

static void on_packet(struct rtp_sink *sink, uint8_t *head, size_t size, bool marker,
                      int64_t ticks)
{
    struct load_out_track *t = (struct load_out_track *)sink;

    if (t->interleaved) {
        rtp_interleaved_build(head, t->channel, (uint16_t)(size + RTP_HEADER));
        head += RTP_INTERLEAVED;
    }
    rtp_sender_head(&t->numbers, head, marker, ticks, size);
    if (load_packets.n < PACKETS_MAX)
        load_packets.sizes[load_packets.n++] = (uint16_t)(size + RTP_HEADER);
}

static err_t pack(struct load_out_track *t, const struct frame *f)
{
    t->sink = (struct rtp_sink){ .out = &load_packets.bytes, .packet = on_packet,
                                 .head = RTP_HEADER + (t->interleaved ? RTP_INTERLEAVED : 0) };
    load_packets.bytes.len = load_packets.n = 0;
    return rtp_pack(&t->packer, f, &t->sink);
}

/* The packer knows the clock once it has the configuration. */
static err_t open_track(struct load_out_track *t, const struct load_track *from,
                        const struct rtp_packer_opts *opts, bool rtc)
{
    uint8_t random[RTP_SENDER_RANDOM], type = from->type;
    struct rtp_packer_opts own = *opts;
    struct frame f;
    err_t err = NULL;

    own.codec = from->codec;
    t->open = (!rtc || rtc_carries(from->codec)) && rtp_packer_init(&t->packer, &own);
    if (!t->open)
        return NULL;
    if (load_track_config(from, &f))
        err = pack(t, &f);
    for (size_t i = 0; i < sizeof(random); i++)
        random[i] = (uint8_t)(rand() >> 8);
    if (rtc)
        type = from->kind == AV_VIDEO ? LOAD_RTC_VIDEO : LOAD_RTC_AUDIO;
    rtp_sender_init(&t->numbers, type, t->packer.clock ? t->packer.clock : AV_CLOCK, random);
    return err;
}

err_t load_out_init(struct load_out *o, const struct load_media *source,
                    const struct rtp_packer_opts *opts, bool rtc)
{
    err_t err = NULL;

    if (!load_packets.bytes.limit)
        wr_init(&load_packets.bytes, FRAME_MAX);
    *o = (struct load_out){ .source = source };
    for (unsigned i = 0; !err && i < source->n; i++)
        err = open_track(&o->tracks[i], &source->tracks[i], opts, rtc);
    return err;
}

void load_out_fini(struct load_out *o)
{
    for (unsigned i = 0; i < LOAD_TRACKS; i++)
        if (o->tracks[i].open)
            rtp_packer_fini(&o->tracks[i].packer);
}

struct sending {
    struct load_out *out;
    err_t (*send)(void *arg, unsigned track);
    void *arg;
};

static err_t send_frame(void *arg, const struct frame *f)
{
    const struct sending *s = arg;
    err_t err = NULL;

    for (unsigned i = 0; i < s->out->source->n; i++) {
        const struct load_track *from = &s->out->source->tracks[i];
        struct load_out_track *t = &s->out->tracks[i];

        if (from->kind != f->kind || from->codec != f->codec || !t->open)
            continue;
        err = pack(t, f);
        if (!err && load_packets.n > 0)
            err = s->send(s->arg, i);
        break;
    }
    return err;
}

err_t load_out_message(struct load_out *o, const struct load_message *msg, uint64_t time,
                       uint32_t *number, err_t (*send)(void *arg, unsigned track), void *arg)
{
    struct sending s = { o, send, arg };

    return load_message_frames(msg, time, number, send_frame, &s);
}

void load_out_report(const struct load_out *o, unsigned track, int64_t time, struct wr *w)
{
    const struct rtp_sender *n = &o->tracks[track].numbers;
    struct rtcp_sr sr = rtp_sender_report(n, rtp_ticks(time, n->clock), load_wall());

    rtcp_put_sr(w, n->ssrc, &sr);
    rtcp_put_cname(w, n->ssrc, "load");
}
