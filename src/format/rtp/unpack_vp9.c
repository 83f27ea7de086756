/* SPDX-License-Identifier: MIT */
/* unpack_vp9.c - assembles VP9 frames, [VP9-RTP] 4.2; only the lowest of several layers. */
#include "av/vp9.h"
#include "base/rd.h"
#include "format/rtp/unpack_impl.h"

enum { HAS_ID = 0x80, INTER = 0x40, LAYERS = 0x20, FLEXIBLE = 0x10, BEGIN = 0x08, END = 0x04,
       STRUCTURE = 0x02 };

struct descriptor {
    uint8_t flags;
    unsigned layer; /* spatial */
};

static void skip_references(struct rd *r)
{
    for (int i = 0; i < 3 && rd_u8(r) & 1; i++)
        ;
}

/* 4.2.1 */
static void skip_structure(struct rd *r)
{
    uint8_t b = rd_u8(r);
    unsigned layers = (b >> 5) + 1u;

    if (b & 0x10) /* sizes */
        (void)rd_take(r, layers * (size_t)4);
    if (!(b & 0x08))
        return;
    for (unsigned n = rd_u8(r); n > 0 && !r->bad; n--)
        (void)rd_take(r, rd_u8(r) >> 2 & 3);
}

/* Reads the descriptor; false: it is longer than the packet. */
static bool read_descriptor(struct descriptor *d, struct rd *r)
{
    *d = (struct descriptor){ .flags = rd_u8(r) };
    if (d->flags & HAS_ID && rd_u8(r) & 0x80)
        (void)rd_u8(r);
    if (d->flags & LAYERS) {
        d->layer = rd_u8(r) >> 1 & 7;
        if (!(d->flags & FLEXIBLE))
            (void)rd_u8(r); /* TL0PICIDX */
    }
    if (d->flags & FLEXIBLE && d->flags & INTER)
        skip_references(r);
    if (d->flags & STRUCTURE)
        skip_structure(r);
    return !r->bad;
}

static void take(struct rtp_unpacker *u, const struct rtp_payload *p)
{
    struct rd r = rd_init(p->data, p->size);
    struct descriptor d;

    if (!read_descriptor(&d, &r)) {
        u->broken = true;
        return;
    }
    if (d.layer > 0) {
        u->stats.odd++;
        return;
    }
    u->broken |= u->ended || (d.flags & BEGIN ? u->picture : !u->picture);
    u->picture = true;
    u->ended = d.flags & END;
    wr_bytes(&u->frame, r.p, rd_left(&r));
}

static bool begins(const struct rtp_unpacker *u, const struct rtp_payload *p)
{
    struct rd r = rd_init(p->data, p->size);
    struct descriptor d;

    (void)u;
    return read_descriptor(&d, &r) && d.flags & BEGIN && d.layer == 0;
}

static bool new_picture(const struct rtp_unpacker *u, const struct rtp_payload *p)
{
    (void)u;
    (void)p;
    return true;
}

static bool finish(struct rtp_unpacker *u)
{
    uint32_t width, height;
    struct wr w;

    if (!u->ended || u->frame.len == 0)
        return false;
    u->key = av_codec_row(AV_VP9)->key_size(u->frame.buf, u->frame.len, &width, &height);
    if (!u->key)
        return true;
    wr_init(&w, RTP_CONFIG_MAX);
    if (vp9_record_build(&w, u->frame.buf, u->frame.len))
        rtp_unpack_configure(u, w.buf, w.len);
    wr_free(&w);
    return true;
}

const struct rtp_video rtp_vp9_video = {
    .first = begins, .new_picture = new_picture, .splits = begins, .take = take, .close = finish,
};
