/* SPDX-License-Identifier: MIT */
/* unpack_av1.c - assembles AV1 frames: OBUs with their sizes, [AV1-RTP] 4. */
#include "av/av1.h"
#include "format/obu.h"
#include "format/rtp/unpack_impl.h"

#include <string.h>

enum { GOES_ON = 0x80, GOES_ON_NEXT = 0x40, COUNT_SHIFT = 4, NEW_SEQUENCE = 0x08, HAS_SIZE = 2 };

static void read_sequence(struct rtp_unpacker *u, const uint8_t *obu, size_t size)
{
    struct wr w;

    wr_init(&w, RTP_CONFIG_MAX);
    if (av1_record_build(&w, obu, size))
        rtp_unpack_configure(u, w.buf, w.len);
    wr_free(&w);
}

/* [AV1] 5.9.2: show_existing_frame, frame_type. The reduced header of still images has neither. */
static void note(struct rtp_unpacker *u, const struct obu *obu)
{
    if (obu->type != AV1_FRAME_HEADER && obu->type != AV1_FRAME)
        return;
    if (!u->picture)
        u->key = obu->size > 0 && (obu->data[0] & 0xe0) == 0;
    u->picture = true;
}

/* The OBU at the end of the frame is complete: sets its size. */
static void end_obu(struct rtp_unpacker *u)
{
    uint8_t size[OBU_LEB128_MAX], *at = u->frame.buf + u->piece_at;
    struct rd r = rd_init(at, u->frame.len - u->piece_at);
    struct obu obu;
    size_t n, head, from;

    u->piece = false;
    if (u->frame.bad || !obu_next(&r, &obu)) {
        u->broken = true;
        return;
    }
    if (obu.type == AV1_TEMPORAL_DELIMITER || obu.type == AV1_TILE_LIST ||
        obu.type == AV1_PADDING) {
        u->frame.len = u->piece_at;
        return;
    }
    u->broken |= ++u->units > RTP_UNITS_MAX;
    note(u, &obu);
    head = obu.head_size;
    from = (size_t)(obu.data - at);
    n = obu_leb128_build(size, obu.size);
    if (!wr_reserve(&u->frame, n)) {
        u->broken = true;
        return;
    }
    at = u->frame.buf + u->piece_at;
    memmove(at + head + n, at + from, obu.size);
    memcpy(at + head, size, n);
    at[0] |= HAS_SIZE;
    u->frame.len = u->piece_at + head + n + obu.size;
    if (obu.type == AV1_SEQUENCE_HEADER)
        read_sequence(u, at, head + n + obu.size);
}

static void take_element(struct rtp_unpacker *u, const uint8_t *data, size_t size, bool rest,
                         bool goes_on)
{
    if (rest != u->piece) { /* the previous fragment is missing, or its end is */
        u->broken = true;
        return;
    }
    if (!rest)
        u->piece_at = u->frame.len;
    wr_bytes(&u->frame, data, size);
    u->piece = true;
    if (!goes_on)
        end_obu(u);
}

/* 4.3, 4.4: the header has the number of elements, and the last one has no length; or all have
 * one. */
static void take(struct rtp_unpacker *u, const struct rtp_payload *p)
{
    struct rd r = rd_init(p->data, p->size);
    uint8_t head = rd_u8(&r);
    unsigned count = head >> COUNT_SHIFT & 3;

    for (unsigned i = 0; rd_left(&r) > 0 && !u->broken; i++) {
        bool last = count > 0 && i + 1 == count;
        uint64_t size = last ? rd_left(&r) : av1_leb128(&r);
        const uint8_t *data = size <= rd_left(&r) ? rd_take(&r, (size_t)size) : NULL;

        if (!data || (count > 0 && i >= count)) {
            u->broken = true;
            return;
        }
        take_element(u, data, (size_t)size, i == 0 && head & GOES_ON,
                     rd_left(&r) == 0 && head & GOES_ON_NEXT);
    }
}

static bool first(const struct rtp_unpacker *u, const struct rtp_payload *p)
{
    (void)u;
    return (p->data[0] & (NEW_SEQUENCE | GOES_ON)) == NEW_SEQUENCE;
}

/* AV1 senders set markers correctly. */
static bool new_picture(const struct rtp_unpacker *u, const struct rtp_payload *p)
{
    (void)u;
    (void)p;
    return true;
}

static bool splits(const struct rtp_unpacker *u, const struct rtp_payload *p)
{
    return first(u, p);
}

static bool finish(struct rtp_unpacker *u)
{
    return u->frame.len > 0;
}

const struct rtp_video rtp_av1_video = {
    .first = first, .new_picture = new_picture, .splits = splits, .take = take, .close = finish,
};
