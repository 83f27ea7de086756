/* SPDX-License-Identifier: MIT */
/* demux_av1.c - OBUs of AV1 in a transport stream, [AV1-TS] "Carriage of AV1 in MPEG-2 TS", 3.2.
 * Each follows a start code and is escaped, so that it contains no start codes. A temporal unit,
 * which starts with its delimiter, becomes one frame. */
#include "av/av1.h"
#include "format/obu.h"
#include "format/ts/demux_impl.h"

#include <string.h>

enum { TYPE_SHIFT = 3, TYPE_MASK = 0x0f, HAS_SIZE = 2, REDUNDANT_HEADER = 7, TILE_GROUP = 4,
       SHOW_EXISTING = 0x80, FRAME_TYPE = 0x60, SHOW = 0x10 };

static unsigned what(const struct ts_es *es, const uint8_t *unit)
{
    (void)es;
    switch (unit[0] >> TYPE_SHIFT & TYPE_MASK) {
    case AV1_TEMPORAL_DELIMITER:
        return TS_UNIT_BEGINS;
    case AV1_FRAME_HEADER:
    case AV1_FRAME:
    case TILE_GROUP:
    case REDUNDANT_HEADER:
        return TS_UNIT_PICTURE;
    default:
        return 0;
    }
}

/* Replaces 00 00 03 with 00 00. */
static size_t unescape(uint8_t *p, size_t size)
{
    size_t n = 0, zeros = 0;

    for (size_t i = 0; i < size; i++) {
        if (zeros >= 2 && p[i] == 3) {
            zeros = 0;
            continue;
        }
        zeros = p[i] == 0 ? zeros + 1 : 0;
        p[n++] = p[i];
    }
    return n;
}

static struct ts_piece piece(const uint8_t *unit, size_t size)
{
    struct rd r = rd_init(unit, size);
    struct ts_piece p = { 0 };
    struct obu obu;

    if (!obu_next(&r, &obu))
        return p;
    memcpy(p.head, obu.head, obu.head_size);
    p.head[0] |= HAS_SIZE;
    p.head_size = (uint8_t)(obu.head_size + obu_leb128_build(p.head + obu.head_size, obu.size));
    p.data = obu.data;
    p.size = (uint32_t)obu.size;
    return p;
}

static void read_sequence(struct ts_es *es, const uint8_t *unit, size_t size)
{
    struct ts_piece p = piece(unit, size);
    struct wr obu, w;

    wr_init(&obu, NAL_CONFIG_MAX);
    wr_init(&w, NAL_CONFIG_MAX);
    wr_bytes(&obu, p.head, p.head_size);
    wr_bytes(&obu, p.data, p.size);
    if (!obu.bad && av1_record_build(&w, obu.buf, obu.len) && !w.bad)
        ts_es_configure(es, w.buf, w.len);
    wr_free(&w);
    wr_free(&obu);
}

/* [AV1] 5.9.2: show_existing_frame, frame_type with 2 bits, show_frame. The reduced header of still
 * images has none of them. */
static void note(struct ts_es *es, const struct obu *obu)
{
    if ((obu->type != AV1_FRAME_HEADER && obu->type != AV1_FRAME) || obu->size == 0)
        return;
    es->shown = obu->data[0] & (SHOW_EXISTING | SHOW);
    if (!es->looked)
        es->key = (obu->data[0] & (SHOW_EXISTING | FRAME_TYPE)) == 0;
    es->looked = true;
}

static void end(struct ts_es *es, size_t at, size_t size)
{
    uint8_t *unit = es->buf.buf + at;
    size_t n = unescape(unit, size);
    struct rd r = rd_init(unit, n);
    struct obu obu;

    if (n == 0)
        return;
    if (unit[0] & 0x80 || !obu_next(&r, &obu)) { /* obu_forbidden_bit */
        es->broken = true;
        return;
    }
    if (obu.type == AV1_TEMPORAL_DELIMITER || obu.type == AV1_TILE_LIST ||
        obu.type == AV1_PADDING)
        return;
    note(es, &obu);
    if (obu.type == AV1_SEQUENCE_HEADER)
        read_sequence(es, unit, n);
    ts_video_keep(es, at, n);
}

/* A temporal unit ends with a frame that is shown; the access unit of a PES packet may be only a
 * part of it. */
static bool ends(const struct ts_es *es)
{
    return es->shown;
}

static bool key(const struct ts_es *es)
{
    return es->key;
}

const struct ts_video ts_av1_video = {
    .look = 1, .what = what, .end = end, .ends = ends, .key = key, .piece = piece,
};
