/* SPDX-License-Identifier: MIT */
/* demux_nal.c - units of H.264 and HEVC in a transport stream: [TS] 2.14 and 2.17. */
#include "av/bits.h"
#include "av/h264.h"
#include "av/h265.h"
#include "format/ts/demux_impl.h"

enum { LENGTH = 4, SEI_CAPTIONS = 4, SEI_RECOVERY = 6, SEI_MAX = 64,
       NO_UNIT = NAL_REFUSED | NAL_NONE };

static const struct nal_kind *kind_of(const struct ts_es *es)
{
    return es->reader->codec == AV_H264 ? &nal_h264 : &nal_h265;
}

static bool is_sei(const struct nal_kind *nal, uint8_t type)
{
    return nal == &nal_h264 ? type == H264_SEI
                            : type == H265_PREFIX_SEI || type == H265_SUFFIX_SEI;
}

/* first_mb_in_slice 0, or first_slice_segment_in_pic_flag; partitions B and C have neither. */
static bool is_first(const struct nal_kind *nal, uint8_t type, const uint8_t *unit)
{
    return unit[nal->head] & 0x80 && (nal != &nal_h264 || (type != 3 && type != 4));
}

static unsigned what(const struct ts_es *es, const uint8_t *unit)
{
    const struct nal_kind *nal = kind_of(es);
    uint8_t type = nal_type(nal, unit), flags = nal->flags[type];
    unsigned out = flags & NAL_BEGINS ? TS_UNIT_BEGINS : 0;

    if (flags & NAL_SLICE)
        out |= TS_UNIT_PICTURE | (is_first(nal, type, unit) ? TS_UNIT_FIRST : 0);
    return out;
}

/* [H.264] 7.3.2.3.1: a number is the sum of bytes up to the first one below 255. */
static unsigned sei_number(struct bits *b)
{
    unsigned n = 0, byte;

    do {
        byte = bits_u(b, 8);
        n += byte;
    } while (byte == 255 && !b->bad);
    return n;
}

/* Finds registered user data. */
static bool read_sei(struct ts_es *es, const struct nal_kind *nal, const uint8_t *unit, size_t size)
{
    struct bits b = bits_init_nalu(unit + nal->head, size - nal->head);
    bool captions = false;

    for (int i = 0; i < SEI_MAX; i++) {
        unsigned type = sei_number(&b), n = sei_number(&b);

        if (b.bad)
            break;
        es->recovery |= type == SEI_RECOVERY;
        captions |= type == SEI_CAPTIONS;
        bits_skip(&b, 8 * (uint64_t)n);
    }
    return captions;
}

static void end(struct ts_es *es, size_t at, size_t size)
{
    const struct nal_kind *nal = kind_of(es);
    const uint8_t *unit = es->buf.buf + at;
    uint8_t type, flags;

    if (size <= nal->head)
        return;
    type = nal_type(nal, unit);
    flags = nal->flags[type];
    if (unit[0] & 0x80) { /* forbidden_zero_bit */
        es->broken = true;
        return;
    }
    if (flags & NAL_SET) {
        es->has_sps |= (flags & NAL_FIRST) != 0;
        nal_sets_keep(&es->sets, nal, unit, size);
    }
    if (flags & (NAL_SET | NAL_LEFT_OUT | NO_UNIT))
        return;
    if (is_sei(nal, type) && !read_sei(es, nal, unit, size) && es->demux->opts.sei_filter)
        return;
    es->key |= (flags & NAL_KEY) != 0;
    if (flags & NAL_SLICE && es->has_sps && nal == &nal_h264)
        es->intra &= nal_h264_is_intra(unit, size);
    ts_video_keep(es, at, size);
}

/* Builds the configuration from the parameter sets before the slices. */
static void picture(struct ts_es *es)
{
    struct wr w;

    if (!es->sets.changed)
        return;
    wr_init(&w, NAL_CONFIG_MAX);
    if (nal_sets_record(&es->sets, es->reader->codec, &w))
        ts_es_configure(es, w.buf, w.len);
    wr_free(&w);
}

/* Encoders without IDR frames mark the frames where decoding can start, or send parameter sets
 * before them. */
static bool key(const struct ts_es *es)
{
    return es->key || (kind_of(es) == &nal_h264 && (es->recovery || (es->has_sps && es->intra)));
}

static struct ts_piece piece(const uint8_t *unit, size_t size)
{
    return (struct ts_piece){
        .data = unit, .size = (uint32_t)size, .head_size = LENGTH,
        .head = { (uint8_t)(size >> 24), (uint8_t)(size >> 16), (uint8_t)(size >> 8),
                  (uint8_t)size },
    };
}

const struct ts_video ts_nal_video = {
    .look = 3, .what = what, .end = end, .picture = picture, .key = key, .piece = piece,
    .trim = true,
};
