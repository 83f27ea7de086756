/* SPDX-License-Identifier: MIT */
/* pack_nal.c - H.264 and HEVC: single units, aggregates of small units, fragments of large units.
 * */
#include "av/nalu.h"
#include "base/rd.h"
#include "format/nal.h"
#include "format/rtp/pack_impl.h"

#include <string.h>

enum { GROUP_MAX = 16 };

/* Units that wait to share a packet: parameter sets and SEI, and slices if enabled. */
struct group {
    struct nalu unit[GROUP_MAX];
    unsigned n;
    size_t size; /* size of the packet */
};

static void put_set(void *sets, const uint8_t *unit, size_t size)
{
    if (size <= UINT16_MAX) {
        wr_u16(sets, (uint16_t)size);
        wr_bytes(sets, unit, size);
    }
}

err_t rtp_nal_configure(struct rtp_packer *p, const struct frame *f)
{
    return av_codec_row(f->codec)->nalu->sets(f->data, f->size, &p->nalu_length, put_set,
                                              &p->before_key);
}

static void put_single(struct rtp_packer *p, const struct nalu *unit, bool marker)
{
    uint8_t *at = rtp_pack_packet(p, unit->size, marker);

    if (at)
        memcpy(at, unit->data, unit->size);
}

/* [H264] 5.7.1: F if any unit has it, and the largest NRI. */
static void stap_head(uint8_t *at, const struct group *g)
{
    uint8_t first = 0, nri = 0;

    for (unsigned i = 0; i < g->n; i++) {
        uint8_t b = g->unit[i].data[0];

        first |= b & 0x80;
        nri = (b & 0x60) > nri ? b & 0x60 : nri;
    }
    at[0] = first | nri | nal_h264.aggregate;
}

/* [HEVC] 4.4.2: the lowest layer and the lowest temporal id. */
static void ap_head(uint8_t *at, const struct group *g)
{
    unsigned layer = 0x3f, id = 7;
    uint8_t first = 0;

    for (unsigned i = 0; i < g->n; i++) {
        const uint8_t *b = g->unit[i].data;
        unsigned l = (b[0] & 1u) << 5 | b[1] >> 3;

        first |= b[0] & 0x80;
        layer = l < layer ? l : layer;
        id = (b[1] & 7u) < id ? b[1] & 7u : id;
    }
    at[0] = (uint8_t)(first | nal_h265.aggregate << 1 | layer >> 5);
    at[1] = (uint8_t)(layer << 3 | id);
}

static void flush_group(struct rtp_packer *p, struct group *g, bool marker)
{
    const struct nal_kind *nal = p->fmt->nal;
    uint8_t *at;

    if (g->n == 1)
        put_single(p, &g->unit[0], marker);
    at = g->n > 1 ? rtp_pack_packet(p, g->size, marker) : NULL;
    if (at) {
        if (nal == &nal_h264)
            stap_head(at, g);
        else
            ap_head(at, g);
        at += nal->head;
        for (unsigned i = 0; i < g->n; i++) {
            const struct nalu *u = &g->unit[i];

            at[0] = (uint8_t)(u->size >> 8);
            at[1] = (uint8_t)u->size;
            memcpy(at + 2, u->data, u->size);
            at += 2 + u->size;
        }
    }
    g->n = 0;
    g->size = nal->head;
}

/* [H264] 5.8, [HEVC] 4.4.3. */
static void put_fragments(struct rtp_packer *p, const struct nalu *unit, bool marker)
{
    const struct nal_kind *nal = p->fmt->nal;
    const uint8_t *from = unit->data + nal->head;
    size_t left = unit->size - nal->head, head = nal->head + (size_t)1;
    size_t each = rtp_pack_even(left, p->opts.mtu - head);
    uint8_t type = nal_type(nal, unit->data), flags = 0x80;

    while (left > 0) {
        size_t n = left < each ? left : each;
        uint8_t *at = rtp_pack_packet(p, head + n, marker && n == left);

        if (!at)
            return;
        memcpy(at, unit->data, nal->head);
        at[0] = (uint8_t)((at[0] & ~(nal->type_mask << nal->type_shift)) |
                          nal->fragment << nal->type_shift);
        at[nal->head] = (uint8_t)(flags | (n == left ? 0x40 : 0) | type);
        memcpy(at + head, from, n);
        from += n;
        left -= n;
        flags = 0;
    }
}

static void send(struct rtp_packer *p, struct group *g, const struct nalu *unit, bool last)
{
    const struct nal_kind *nal = p->fmt->nal;
    uint8_t flags = nal->flags[nal_type(nal, unit->data)];
    bool alone = (flags & NAL_SLICE && !p->opts.share) || nal->head + 2 + unit->size > p->opts.mtu;

    if (alone || g->n == GROUP_MAX || g->size + 2 + unit->size > p->opts.mtu)
        flush_group(p, g, false);
    if (!alone) {
        g->unit[g->n++] = *unit;
        g->size += 2 + unit->size;
        if (last)
            flush_group(p, g, true);
    } else if (unit->size <= p->opts.mtu) {
        put_single(p, unit, last);
    } else {
        put_fragments(p, unit, last);
    }
}

/* [H.264] table 7-1, [H.265] table 7-1. */
static bool is_end(const struct nal_kind *nal, uint8_t type)
{
    return nal == &nal_h264 ? type == 10 || type == 11 : type == 36 || type == 37;
}

static bool is_sei(const struct nal_kind *nal, uint8_t type)
{
    return nal == &nal_h264 ? type == 6 : type == 39 || type == 40;
}

static bool is_sent(const struct rtp_packer *p, const struct nalu *unit)
{
    const uint8_t not = NAL_LEFT_OUT | NAL_REFUSED | NAL_NONE;
    const struct nal_kind *nal = p->fmt->nal;
    uint8_t type;

    if (unit->size == 0)
        return false;
    type = nal_type(nal, unit->data);
    if ((p->opts.no_end && is_end(nal, type)) || (p->opts.no_sei && is_sei(nal, type)))
        return false;
    return unit->size > nal->head && !(nal->flags[type] & not);
}

/* Counts the units to send, and finds parameter sets. Checks the whole frame before any of it is
 * written. */
static err_t look(const struct rtp_packer *p, struct nalu_reader r, unsigned *n, bool *sets)
{
    const struct nal_kind *nal = p->fmt->nal;
    struct nalu unit;
    err_t err;

    *n = 0;
    *sets = false;
    for (;;) {
        err = nalu_next(&r, &unit);
        if (err || !unit.data)
            return err;
        if (!is_sent(p, &unit))
            continue;
        (*n)++;
        *sets |= (nal->flags[nal_type(nal, unit.data)] & NAL_SET) != 0;
    }
}

static void send_sets(struct rtp_packer *p, struct group *g)
{
    struct rd r = rd_init(p->before_key.buf, p->before_key.len);

    while (rd_left(&r) > 2) {
        size_t n = rd_u16(&r);
        const uint8_t *set = rd_take(&r, n);
        struct nalu unit = { set, n };

        if (set && is_sent(p, &unit))
            send(p, g, &unit, false);
    }
}

err_t rtp_nal_pack(struct rtp_packer *p, const struct frame *f)
{
    struct group g = { .size = p->fmt->nal->head };
    enum nalu_format format = nalu_detect(f->data, f->size, p->nalu_length);
    struct nalu_reader r;
    struct nalu unit;
    unsigned n;
    bool sets;
    err_t err;

    err = nalu_begin(&r, format, p->nalu_length, f->data, f->size);
    if (!err)
        err = look(p, r, &n, &sets);
    if (err || n == 0)
        return err;
    if (f->key && p->opts.sets && !sets)
        send_sets(p, &g);
    for (err = nalu_next(&r, &unit); !err && unit.data; err = nalu_next(&r, &unit)) {
        if (is_sent(p, &unit))
            send(p, &g, &unit, --n == 0);
    }
    return err;
}
