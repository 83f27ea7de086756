/* SPDX-License-Identifier: MIT */
/* unpack_nal.c - assembles frames of H.264 and HEVC: units after their lengths. */
#include "av/bits.h"
#include "av/nalu.h"
#include "base/be.h"
#include "base/rd.h"
#include "format/rtp/unpack_impl.h"

#include <string.h>

enum { LENGTH = 4, LOOKS = 16, START = 0x80, END = 0x40,
       NO_UNIT = NAL_REFUSED | NAL_NONE };

/* ---- parameter sets */

void rtp_nal_keep_set(struct rtp_unpacker *u, const uint8_t *unit, size_t size)
{
    struct nalu_reader r;
    struct nalu n;
    err_t err;

    if (nalu_detect(unit, size, 0) != NALU_ANNEXB) {
        nal_sets_keep(&u->sets, u->fmt->nal, unit, size);
        return;
    }
    err = nalu_begin(&r, NALU_ANNEXB, 0, unit, size);
    while (!err) {
        err = nalu_next(&r, &n);
        if (err || !n.data)
            break;
        nal_sets_keep(&u->sets, u->fmt->nal, n.data, n.size);
    }
    err_free(&err);
}

void rtp_nal_configuration(struct rtp_unpacker *u)
{
    struct wr w;

    wr_init(&w, RTP_CONFIG_MAX);
    if (nal_sets_record(&u->sets, u->fmt->codec, &w))
        rtp_unpack_configure(u, w.buf, w.len);
    wr_free(&w);
}

/* ---- units */

static void note(struct rtp_unpacker *u, uint8_t flags, const uint8_t *unit, size_t size)
{
    if (flags & NAL_KEY)
        u->key = true;
    if (flags & NAL_SLICE && u->has_sps && u->fmt->nal == &nal_h264)
        u->intra &= nal_h264_is_intra(unit, size);
    u->picture |= (flags & NAL_SLICE) != 0;
}

/* Ends the unit that starts at `at`, after the space for its length, at the end of the frame. */
static void end_unit(struct rtp_unpacker *u, size_t at)
{
    const struct nal_kind *nal = u->fmt->nal;
    uint8_t *p = u->frame.buf + at, *unit = p + LENGTH, flags;
    size_t size = u->frame.len - at - LENGTH;

    flags = size > nal->head ? nal->flags[nal_type(nal, unit)] : NAL_LEFT_OUT;
    if (flags & NAL_SET) {
        u->has_sps |= (flags & NAL_FIRST) != 0;
        rtp_nal_keep_set(u, unit, size);
    }
    u->stats.odd += (flags & NO_UNIT) != 0;
    if (flags & (NAL_SET | NAL_LEFT_OUT | NO_UNIT)) {
        u->frame.len = at;
        return;
    }
    u->broken |= ++u->units > RTP_UNITS_MAX;
    (void)be_put32(p, (uint32_t)size);
    note(u, flags, unit, size);
}

static void add_plain(struct rtp_unpacker *u, const uint8_t *unit, size_t size)
{
    size_t at = u->frame.len;

    wr_u32(&u->frame, 0);
    wr_bytes(&u->frame, unit, size);
    if (!u->frame.bad)
        end_unit(u, at);
}

/* Adds units after start codes, which some cameras send instead of a single unit. */
static void add_annexb(struct rtp_unpacker *u, const uint8_t *data, size_t size)
{
    struct nalu_reader r;
    struct nalu unit;
    err_t err;

    err = nalu_begin(&r, NALU_ANNEXB, 0, data, size);
    while (!err) {
        err = nalu_next(&r, &unit);
        if (err || !unit.data)
            break;
        add_plain(u, unit.data, unit.size);
    }
    u->broken |= err != NULL;
    err_free(&err);
}

static const uint8_t *start_code(const uint8_t *data, size_t size)
{
    return memmem(data, size, "\0\0\1", 3);
}

/* True if the unit may contain start codes: it is not a slice, or the sender has sent start codes
 * before. */
static bool may_have_codes(struct rtp_unpacker *u, const uint8_t *unit, size_t size)
{
    const struct nal_kind *nal = u->fmt->nal;

    if (u->start_codes || u->looked < LOOKS)
        return true;
    return size > 0 && !(nal->flags[nal_type(nal, unit)] & NAL_SLICE);
}

static void add_unit(struct rtp_unpacker *u, const uint8_t *unit, size_t size)
{
    const uint8_t *code = may_have_codes(u, unit, size) ? start_code(unit, size) : NULL;
    size_t before;

    u->looked++;
    if (!code) {
        add_plain(u, unit, size);
        return;
    }
    u->start_codes = true;
    before = (size_t)(code - unit);
    while (before > 0 && unit[before - 1] == 0)
        before--;
    if (before > 0)
        add_plain(u, unit, before);
    add_annexb(u, unit + before, size - before);
}

/* ---- packets */

/* [H264] 5.7.1, [HEVC] 4.4.2. If the last length is too large, the units before it are kept. */
static void take_group(struct rtp_unpacker *u, struct rd r)
{
    (void)rd_take(&r, u->fmt->nal->head);
    while (rd_left(&r) > 2) {
        size_t n = rd_u16(&r);
        const uint8_t *unit = rd_take(&r, n);

        if (!unit)
            break;
        add_unit(u, unit, n);
    }
}

/* The fragments are a complete unit. Start codes inside divide it. */
static void end_pieces(struct rtp_unpacker *u)
{
    const uint8_t *unit = u->frame.buf + u->piece_at + LENGTH;
    size_t size = u->frame.len - u->piece_at - LENGTH;
    struct wr copy;

    u->piece = false;
    if (u->frame.bad)
        return;
    if (!may_have_codes(u, unit, size) || !start_code(unit, size)) {
        u->looked++;
        end_unit(u, u->piece_at);
        return;
    }
    wr_init(&copy, RTP_FRAME_MAX);
    wr_bytes(&copy, unit, size);
    u->frame.len = u->piece_at;
    if (!copy.bad)
        add_unit(u, copy.buf, size);
    u->broken |= copy.bad != ERR_OK;
    wr_free(&copy);
}

/* [H264] 5.8, [HEVC] 4.4.3. Start and end in one packet are invalid but unambiguous. */
static void take_fragment(struct rtp_unpacker *u, struct rd r)
{
    const struct nal_kind *nal = u->fmt->nal;
    const uint8_t *head = rd_take(&r, nal->head);
    uint8_t flags = rd_u8(&r), mask = (uint8_t)(nal->type_mask << nal->type_shift);

    if (r.bad || (!(flags & START) && !u->piece) || (flags & START && u->piece)) {
        u->broken = true;
        return;
    }
    if (flags & START) {
        u->piece = true;
        u->piece_at = u->frame.len;
        wr_u32(&u->frame, 0);
        wr_u8(&u->frame, (uint8_t)((head[0] & ~mask) | ((flags & nal->type_mask & 0x3f)
                                                        << nal->type_shift)));
        wr_bytes(&u->frame, head + 1, nal->head - (size_t)1);
    }
    wr_bytes(&u->frame, r.p, rd_left(&r));
    if (flags & END)
        end_pieces(u);
}

static void take(struct rtp_unpacker *u, const struct rtp_payload *p)
{
    const struct nal_kind *nal = u->fmt->nal;
    uint8_t type = nal_type(nal, p->data);

    if (u->broken)
        return;
    if (p->size > 3 && p->data[0] == 0 && start_code(p->data, 4)) {
        u->broken |= u->piece;
        add_annexb(u, p->data, p->size);
    /* forbidden_zero_bit: the sender or a gateway marked it as damaged */
    } else if (p->data[0] & 0x80) {
        u->broken = true;
    } else if (type == nal->fragment) {
        take_fragment(u, rd_init(p->data, p->size));
    } else if (u->piece) { /* the end of the unit is missing */
        u->broken = true;
    } else if (type == nal->aggregate) {
        take_group(u, rd_init(p->data, p->size));
    } else if (nal->flags[type] & NO_UNIT) {
        u->stats.odd++;
        u->broken |= (nal->flags[type] & NAL_REFUSED) != 0;
    } else {
        add_unit(u, p->data, p->size);
    }
}

/* ---- frames */

/* Reads the first unit of a packet up to its first byte after the header; false: there is none. */
static bool peek(const struct rtp_unpacker *u, const struct rtp_payload *p, uint8_t *flags,
                 bool *first_slice)
{
    const struct nal_kind *nal = u->fmt->nal;
    struct rd r = rd_init(p->data, p->size);
    const uint8_t *head = rd_take(&r, nal->head);
    uint8_t type = head ? nal_type(nal, head) : 0;

    if (type == nal->aggregate) {
        (void)rd_u16(&r);
        head = rd_take(&r, nal->head);
        type = head ? nal_type(nal, head) : 0;
    } else if (type == nal->fragment) {
        uint8_t b = rd_u8(&r);

        type = b & nal->type_mask & 0x3f;
        if (!(b & START))
            return false;
    }
    *first_slice = rd_u8(&r) & 0x80; /* first_mb_in_slice 0; first_slice_segment_in_pic_flag */
    *flags = nal->flags[type];
    return !r.bad;
}

static bool first(const struct rtp_unpacker *u, const struct rtp_payload *p)
{
    bool slice;
    uint8_t flags;

    return peek(u, p, &flags, &slice) && flags & NAL_FIRST;
}

static bool new_picture(const struct rtp_unpacker *u, const struct rtp_payload *p)
{
    bool slice;
    uint8_t flags;

    if (!peek(u, p, &flags, &slice))
        return false;
    return flags & NAL_BEGINS || (flags & NAL_SLICE && slice);
}

/* A first slice does not count: both fields of a frame have the same time. */
static bool splits(const struct rtp_unpacker *u, const struct rtp_payload *p)
{
    bool slice;
    uint8_t flags;

    return !u->piece && peek(u, p, &flags, &slice) && flags & NAL_BEGINS;
}

/* Encoders without IDR frames send parameter sets before the frames where decoding can start. */
static bool finish(struct rtp_unpacker *u)
{
    if (u->has_sps && u->intra && u->fmt->nal == &nal_h264)
        u->key = true;
    rtp_nal_configuration(u);
    return true;
}

const struct rtp_video rtp_nal_video = {
    .first = first, .new_picture = new_picture, .splits = splits, .take = take, .close = finish,
};
