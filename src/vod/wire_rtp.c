/* SPDX-License-Identifier: MIT */
/* wire_rtp.c - a file as interleaved RTP, part by part.
 *
 * A part depends only on the file, its first numbers and the time of the last reports: a packer
 * starts with the file's configuration, and the first audio timestamp of a part comes from the
 * file.
 */
#include "base/must.h"
#include "vod/wires.h"
#include "wire/rtp_sender.h"

#include <stdlib.h>

/* The longest time between reports, [RFC 3550] 6.2. */
#define REPORT_EVERY AV_MS(5000)
/* VP9 frames have picture IDs. The first ID of a part comes from its time, so that frames near each
 * other have different IDs. */
#define PICTURE_EVERY (AV_CLOCK / 60)

struct rtp_part {
    struct rtp_wire_sender tracks[RTP_WIRE_N];
    uint32_t seed;
    int64_t wall, reported;
    bool due;        /* send reports before the first frame */
    bool begun;
};

static void configure(struct rtp_wire_sender *t, const struct demux_track *d, struct wr *none)
{
    const struct frame f = { .kind = av_codec_row(d->codec)->kind, .codec = d->codec,
                             .config = true, .data = d->config, .size = d->config_size };
    err_t err = d->config_size > 0 ? rtp_wire_sender_pack(t, &f, none) : NULL;

    err_free(&err); /* the SDP does not have it either */
    t->sender.clock = t->packer.clock;
}

static void open_track(struct rtp_part *s, unsigned track, const struct vod_wire_use *use,
                       const struct demux_info *info, const struct vod_numbers *from)
{
    struct rtp_wire_sender *t = &s->tracks[track];
    const struct demux_track *d = &info->tracks[track];
    struct wr none;

    rtp_wire_sender_init(t, use->param, track);
    t->wanted &= (use->tracks >> track & 1) && rtp_format_of(d->codec);
    if (!t->wanted || !rtp_wire_sender_open(t, d->codec, use->param[RTP_WIRE_MTU]))
        return;
    wr_init(&none, 0);
    configure(t, d, &none);
    wr_free(&none);
    t->sender.seq = from->tracks[track].seq;
    t->sender.packets = from->tracks[track].packets;
    t->sender.bytes = from->tracks[track].bytes;
}

static void *open_part(const struct vod_wire_use *use, const struct demux_info *info, bool starts,
                       const struct vod_numbers *from)
{
    struct rtp_part *s = must(calloc(1, sizeof(*s)));

    s->wall = use->wall;
    s->reported = from->reported;
    s->due = starts;
    s->seed = use->param[RTP_WIRE_SEED];
    for (unsigned i = 0; i < RTP_WIRE_N; i++)
        open_track(s, i, use, info, from);
    return s;
}

static void close_part(void *state, struct vod_numbers *to)
{
    struct rtp_part *s = state;

    *to = (struct vod_numbers){ .reported = s->reported };
    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        const struct rtp_sender *sender = &s->tracks[i].sender;

        to->tracks[i].seq = sender->seq;
        to->tracks[i].packets = sender->packets;
        to->tracks[i].bytes = sender->bytes;
        rtp_wire_sender_close(&s->tracks[i]);
    }
    free(s);
}

/* Reports the time at which the frame is shown: GStreamer ignores a first report whose time is
 * before the first packet's. */
static void report(struct rtp_part *s, const struct av_packet *pkt, struct wr *out)
{
    int64_t moment = pkt->cts > 0 ? pkt->dts + pkt->cts : pkt->dts;
    char cname[RTP_WIRE_CNAME];

    rtp_wire_cname(s->seed, cname);
    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        if (s->tracks[i].open && s->tracks[i].sender.clock > 0)
            rtp_wire_sender_report(&s->tracks[i], cname, moment,
                                   s->wall + moment * 100 / 9, out);
    }
    s->reported = pkt->dts;
    s->due = false;
}

static struct rtp_wire_sender *track_of(struct rtp_part *s, const struct frame *f)
{
    struct rtp_wire_sender *t = &s->tracks[f->kind == AV_VIDEO ? 0 : 1];

    if (!t->open || f->codec != t->codec)
        return NULL;
    if (!t->chosen)
        t->id = f->track;
    t->chosen = true;
    return f->track == t->id ? t : NULL;
}

/* Times in 1/90000 s are rounded; adding half a sample gives back the exact sample. */
static void put_frame(struct rtp_wire_sender *t, struct frame *f, struct wr *out)
{
    err_t err;

    if (f->kind == AV_AUDIO && t->sender.clock > 0)
        f->dts += AV_CLOCK / (2 * (int64_t)t->sender.clock);
    if (t->codec == AV_VP9 && t->seen == 0)
        t->packer.picture = (uint16_t)(f->dts / PICTURE_EVERY & 0x7fff);
    t->seen = 1;
    err = rtp_wire_sender_pack(t, f, out);
    err_free(&err); /* skip a damaged frame */
}

static void make(void *state, const struct av_packet *pkt, struct wr *out)
{
    struct rtp_part *s = state;
    struct frame_reader r;
    struct frame f;

    if (!pkt->config && (s->due || pkt->dts - s->reported >= REPORT_EVERY))
        report(s, pkt, out);
    frame_begin(&r, pkt);
    while (frame_next(&r, &f)) {
        struct rtp_wire_sender *t = track_of(s, &f);

        if (t)
            put_frame(t, &f, out);
    }
}

const struct vod_wire vod_wire_rtp = { .name = "rtp", .open = open_part, .make = make,
                                       .close = close_part };
