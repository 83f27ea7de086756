/* SPDX-License-Identifier: MIT */
/* frame.c - the frames in a packet. */
#include "format/frame.h"

void frame_begin(struct frame_reader *r, const struct av_packet *pkt)
{
    *r = (struct frame_reader){ .pkt = pkt };
    r->done = pkt->kind == AV_DATA || pkt->extra;
    if (r->done || pkt->track != AV_TRACK_MANY)
        return;
    err_t err = pkt->kind == AV_VIDEO ? flv_video_parse(&r->body, pkt->data, pkt->size)
                                      : flv_audio_parse(&r->body, pkt->data, pkt->size);
    r->done = err != NULL; /* it was logged when the packet arrived */
    err_free(&err);
}

static struct frame head(const struct av_packet *pkt)
{
    return (struct frame){ .kind = (enum av_kind)pkt->kind, .codec = (enum av_codec)pkt->codec,
                           .track = pkt->track, .config = pkt->config, .key = pkt->key,
                           .dts = pkt->dts, .pts = pkt->dts + pkt->cts };
}

static bool next_track(struct frame_reader *r, struct frame *f)
{
    const struct av_packet *pkt = r->pkt;
    struct flv_track t;
    err_t err = flv_track_next(&t, &r->at, &r->body, pkt->data, pkt->size);

    if (err || t.size == 0) {
        bool more = !err && r->at < pkt->size;

        r->done = !more;
        err_free(&err);
        return false;
    }
    *f = head(pkt);
    f->codec = t.codec;
    f->track = t.id;
    f->pts = f->dts + AV_MS(t.cts);
    f->data = pkt->data + t.payload;
    f->size = t.size;
    return true;
}

bool frame_next(struct frame_reader *r, struct frame *f)
{
    const struct av_packet *pkt = r->pkt;

    if (pkt->track == AV_TRACK_MANY) {
        while (!r->done) {
            if (next_track(r, f))
                return true;
        }
        return false;
    }
    if (r->done || av_packet_payload_size(pkt) == 0)
        return false;
    r->done = true;
    *f = head(pkt);
    f->data = av_packet_payload(pkt);
    f->size = av_packet_payload_size(pkt);
    return true;
}

static int kind_of(const struct frame *f)
{
    return f->kind == AV_VIDEO ? 0 : 1;
}

void frame_choose(struct frame_tracks *t, const struct av_packet *pkt)
{
    struct frame_reader r;
    struct frame f;

    frame_begin(&r, pkt);
    while (frame_next(&r, &f)) {
        if (!t->seen[kind_of(&f)])
            t->id[kind_of(&f)] = f.track;
        t->seen[kind_of(&f)] = true;
    }
}

bool frame_is_of(const struct frame_tracks *t, const struct frame *f)
{
    return t->id[kind_of(f)] == f->track;
}
