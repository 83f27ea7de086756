/* SPDX-License-Identifier: MIT */
/* rtp.c - a live stream as interleaved RTP. */
#include "wire/rtp.h"

#include "base/must.h"
#include "base/random_id.h"
#include "format/frame.h"
#include "wire/rtp_impl.h"

#include <stdlib.h>

/* [RFC 3550] 6.2: maximum interval of reports. */
#define REPORT_EVERY AV_MS(5000)
/* A track without frames for this time belongs to another publisher. */
#define GONE AV_MS(1000)

enum { DYNAMIC = 96 };

uint8_t rtp_wire_type(enum av_codec codec)
{
    static const uint8_t types[AV_CODECS] = {
        [AV_H264] = DYNAMIC, [AV_AAC] = DYNAMIC + 1, [AV_H265] = DYNAMIC + 2,
        [AV_AV1] = DYNAMIC + 3, [AV_VP9] = DYNAMIC + 4, [AV_OPUS] = DYNAMIC + 5,
    };
    const struct av_codec_rtp *rtp = &av_codec_row(codec)->rtp;

    return rtp->fixed ? rtp->type : types[codec];
}

/* ---- open and close */

static void init_track(struct rtp_wire_sender *t, const uint32_t param[LIVE_PARAMS],
                       unsigned track)
{
    char random[5];

    random_id(random, sizeof(random) - 1);
    rtp_wire_sender_init(t, param, track);
    /* not close to the wrap, as [RFC 3711] 3.3.1 recommends */
    for (unsigned i = 0; random[i]; i++)
        t->sender.seq = (uint16_t)((t->sender.seq * 36u + (uint8_t)random[i]) & 0x7fff);
}

static void *open_state(const uint32_t param[LIVE_PARAMS], const struct live_source *src)
{
    struct rtp_wire_state *s = must(calloc(1, sizeof(*s)));

    s->src = src;
    s->mtu = param[RTP_WIRE_MTU];
    rtp_wire_cname(param[RTP_WIRE_SEED], s->cname);
    for (unsigned i = 0; i < RTP_WIRE_N; i++)
        init_track(&s->tracks[i], param, i);
    return s;
}

static void close_state(void *state)
{
    struct rtp_wire_state *s = state;

    for (unsigned i = 0; i < RTP_WIRE_N; i++)
        rtp_wire_sender_close(&s->tracks[i]);
    free(s);
}

/* ---- tracks */

bool rtp_wire_open_track(struct rtp_wire_state *s, struct rtp_wire_sender *t, enum av_codec codec)
{
    if (t->codec == codec)
        return t->open;
    s->parted |= t->open && t->sender.packets > 0;
    return rtp_wire_sender_open(t, codec, s->mtu);
}

/* Returns the track of the frame; NULL: not in this wire. */
static struct rtp_wire_sender *track_of(struct rtp_wire_state *s, const struct frame *f)
{
    struct rtp_wire_sender *t = &s->tracks[f->kind == AV_VIDEO ? 0 : 1];

    if (!t->wanted)
        return NULL;
    if (f->track != t->id || !t->chosen) {
        if (t->chosen && !(f->config && f->dts - t->seen > GONE))
            return NULL;
        if (!rtp_format_of(f->codec))
            return NULL;
        t->chosen = true;
        t->id = f->track;
    }
    t->seen = f->dts;
    return rtp_wire_open_track(s, t, f->codec) ? t : NULL;
}

/* Follows a change of the configuration that players have from their description. */
static void follow_config(struct rtp_wire_state *s, struct rtp_wire_sender *t,
                          const struct frame *f)
{
    uint64_t config = f->size << 56;

    if (!f->config || f->codec != AV_AAC)
        return;
    for (size_t i = 0; i < f->size && i < 7; i++)
        config |= (uint64_t)f->data[i] << 8 * i;
    s->parted |= config != t->config && t->sender.packets > 0;
    t->config = config;
}

/* Follows a change of the clock in the same way. */
static void follow_clock(struct rtp_wire_sender *t)
{
    if (t->sender.clock == t->packer.clock)
        return;
    t->sender.clock = t->packer.clock;
    t->reported = false;
}

/* ---- frames */

static void put_frame(struct rtp_wire_state *s, struct rtp_wire_sender *t, const struct frame *f,
                      struct wr *out)
{
    err_t err;

    follow_config(s, t, f);
    if (s->parted)
        rtp_wire_bye(s, out);
    s->parted = false;
    if (!f->config && !t->reported && t->sender.clock > 0)
        rtp_wire_report(s, f->dts, f->pts, out);
    err = rtp_wire_sender_pack(t, f, out);
    if (err) {
        s->broken++;
        err_free(&err);
    }
    follow_clock(t);
}

static bool report_is_due(const struct rtp_wire_state *s, const struct av_packet *pkt)
{
    if (pkt->start)
        return true;
    return s->reported && !pkt->config && pkt->kind != AV_DATA &&
           (pkt->dts - s->reported_at >= REPORT_EVERY || pkt->dts < s->reported_at - REPORT_EVERY);
}

static void make(void *state, const struct av_packet *pkt, struct wr *out)
{
    struct rtp_wire_state *s = state;
    struct frame_reader r;
    struct frame f;

    if (report_is_due(s, pkt))
        rtp_wire_report(s, pkt->dts, pkt->dts + pkt->cts, out);
    frame_begin(&r, pkt);
    while (frame_next(&r, &f)) {
        struct rtp_wire_sender *t = track_of(s, &f);

        if (t)
            put_frame(s, t, &f, out);
    }
}

const struct live_format rtp_wire = { .name = "rtp", .open = open_state, .close = close_state,
                                      .make = make };
