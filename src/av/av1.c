/* SPDX-License-Identifier: MIT */
/* av1.c - parses AV1 decoder configurations. */
#include "av/av1.h"

#include "av/bits.h"
#include "base/rd.h"

#include <stdio.h>

enum { TIER = 0x20 };

static void name_profile(struct av_info *info, uint8_t profile, uint8_t level)
{
    static const char *const names[] = { "Main", "High", "Professional" };

    if (profile < sizeof(names) / sizeof(names[0]))
        snprintf(info->profile, sizeof(info->profile), "%s", names[profile]);
    else
        snprintf(info->profile, sizeof(info->profile), "%u", profile);
    if (level < 31) /* [AV1] A.3: 31 is "no limits" */
        snprintf(info->level, sizeof(info->level), "%u.%u", 2 + (level >> 2), level & 3);
    else
        snprintf(info->level, sizeof(info->level), "max");
}

/* [AV1] 5.5.3 and 5.5.4; true: there is decoder model info, of *delay bits. */
static bool timing(struct av_info *info, struct bits *b, unsigned *delay)
{
    uint32_t units = bits_u(b, 32);
    uint32_t scale = bits_u(b, 32);

    if (bits_flag(b)) { /* equal_picture_interval */
        double ticks = (double)bits_ue(b) + 1; /* uvlc() is ue(v) */

        if (!b->bad && units > 0)
            info->fps = (double)scale / (units * ticks);
    }
    if (!bits_flag(b))
        return false;
    *delay = bits_u(b, 5) + 1;
    bits_skip(b, 32 + 5 + 5);
    return true;
}

/* Reads the operating points; returns the level of the first, with its tier in the upper bits. */
static uint8_t operating_points(struct bits *b, bool model, unsigned delay)
{
    bool display_delay = bits_flag(b);
    uint32_t count = bits_u(b, 5) + 1;
    uint8_t first = 0;

    for (uint32_t i = 0; i < count && !b->bad; i++) {
        uint8_t level;

        bits_skip(b, 12); /* operating_point_idc */
        level = (uint8_t)bits_u(b, 5);
        if (level > 7 && bits_flag(b)) /* seq_tier */
            level |= TIER;
        if (model && bits_flag(b))
            bits_skip(b, (uint64_t)delay * 2 + 1);
        if (display_delay && bits_flag(b))
            bits_skip(b, 4);
        if (i == 0)
            first = level;
    }
    return first;
}

/* The fields of a sequence header up to the frame size. */
struct sequence {
    uint8_t profile, level; /* with the tier */
    bool reduced;
    uint32_t width, height;
};

/* [AV1] 5.5.1 */
static void sequence_begin(struct sequence *s, struct av_info *info, struct bits *b)
{
    unsigned delay = 0, width_bits, height_bits;
    bool model = false;

    *s = (struct sequence){ .profile = (uint8_t)bits_u(b, 3) };
    bits_skip(b, 1);     /* still_picture */
    s->reduced = bits_flag(b);
    if (s->reduced) {
        s->level = (uint8_t)bits_u(b, 5);
    } else {
        if (bits_flag(b)) /* timing_info_present_flag */
            model = timing(info, b, &delay);
        s->level = operating_points(b, model, delay);
    }
    width_bits = bits_u(b, 4) + 1;
    height_bits = bits_u(b, 4) + 1;
    s->width = bits_u(b, width_bits) + 1;
    s->height = bits_u(b, height_bits) + 1;
}

/* The payload of one sequence header OBU. */
static err_t av1_sequence_parse(struct av_info *info, const uint8_t *obu, size_t size)
{
    struct bits b = bits_init(obu, size);
    struct sequence s;

    sequence_begin(&s, info, &b);
    if (b.bad)
        return bits_err(&b, "AV1 sequence header");
    info->width = s.width;
    info->height = s.height;
    name_profile(info, s.profile, s.level & (TIER - 1));
    return NULL;
}

/* [AV1] 5.5.1, from the frame size to the color configuration. */
static void skip_tools(struct bits *b, bool reduced)
{
    bool order;

    if (!reduced && bits_flag(b)) /* frame_id_numbers_present_flag */
        bits_skip(b, 4 + 3);
    bits_skip(b, 3);
    if (!reduced) {
        bits_skip(b, 4);
        order = bits_flag(b); /* enable_order_hint */
        bits_skip(b, order ? 2 : 0);
        if ((bits_flag(b) || bits_flag(b)) && !bits_flag(b)) /* screen content, integer vectors */
            bits_skip(b, 1);
        bits_skip(b, order ? 3 : 0);
    }
    bits_skip(b, 3);
}

/* [AV1] 5.5.2, in the form of [AV1-FF] 2.3.3: depth, monochrome, subsampling, position. */
static uint8_t color(struct bits *b, uint8_t profile)
{
    bool high = bits_flag(b), twelve = profile == 2 && high && bits_flag(b);
    bool mono = profile != 1 && bits_flag(b), x = profile != 1, y = profile == 0;
    uint32_t what = 0, position = 0;

    if (bits_flag(b)) /* color_description_present_flag */
        what = bits_u(b, 24);
    if (mono) {
        bits_skip(b, 1);
        x = y = true;
    } else if (what == (1 << 16 | 13 << 8)) { /* sRGB */
        x = y = false;
    } else {
        bits_skip(b, 1); /* color_range */
        if (twelve) {
            x = bits_flag(b);
            y = x && bits_flag(b);
        }
        position = x && y ? bits_u(b, 2) : 0;
    }
    return (uint8_t)((high ? 0x40 : 0) | (twelve ? 0x20 : 0) | (mono ? 0x10 : 0) | (x ? 8 : 0) |
                     (y ? 4 : 0) | position);
}

uint64_t av1_leb128(struct rd *r)
{
    uint64_t v = 0;

    for (unsigned i = 0; i < 8; i++) {
        uint8_t byte = rd_u8(r);

        v |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (!(byte & 0x80))
            return v;
    }
    r->bad = true;
    return 0;
}

/* [AV1-FF] 2.3: the record and the first sequence header in its OBUs, if there is one. */
static err_t parse(struct av_info *info, const uint8_t *config, size_t size)
{
    struct rd r = rd_init(config, size);
    uint8_t marker = rd_u8(&r), b = rd_u8(&r);

    (void)rd_take(&r, 2);
    if (r.bad)
        return err_new(ERR_CODEC, "av1C ends too early");
    if (marker != 0x81)
        return err_new(ERR_CODEC, "av1C marker and version 0x%02x", marker);
    name_profile(info, b >> 5, b & 0x1f);
    while (rd_left(&r) > 0) {
        uint8_t head = rd_u8(&r);
        uint64_t n;
        const uint8_t *obu;

        if (head & 4) /* obu_extension_flag */
            (void)rd_u8(&r);
        n = head & 2 ? av1_leb128(&r) : rd_left(&r);
        obu = rd_take(&r, (size_t)n);
        if (!obu)
            return err_new(ERR_CODEC, "av1C: an OBU ends too early");
        if ((head >> 3 & 0x0f) == AV1_SEQUENCE_HEADER)
            return av1_sequence_parse(info, obu, (size_t)n);
    }
    return NULL;
}

bool av1_record_build(struct wr *w, const uint8_t *obu, size_t size)
{
    struct rd r = rd_init(obu, size);
    uint8_t head = rd_u8(&r), look;
    struct av_info info = { 0 };
    struct sequence s;
    struct bits b;
    uint64_t n;

    if (head & 4) /* obu_extension_flag */
        (void)rd_u8(&r);
    n = head & 2 ? av1_leb128(&r) : rd_left(&r);
    if (r.bad || n > rd_left(&r) || (head >> 3 & 0x0f) != AV1_SEQUENCE_HEADER)
        return false;
    b = bits_init(r.p, (size_t)n);
    sequence_begin(&s, &info, &b);
    skip_tools(&b, s.reduced);
    look = color(&b, s.profile);
    if (b.bad)
        return false;
    wr_u8(w, 0x81);
    wr_u8(w, (uint8_t)(s.profile << 5 | (s.level & (TIER - 1))));
    wr_u8(w, (uint8_t)((s.level & TIER ? 0x80 : 0) | look));
    wr_u8(w, 0); /* initial_presentation_delay: not known */
    wr_bytes(w, obu, size);
    return true;
}

/* [AV1-FF] 5 */
static void list_name(char *out, size_t room, const uint8_t *config, size_t size)
{
    uint8_t a = config[1], b = config[2];

    (void)size;
    (void)snprintf(out, room, "av01.%d.%02d%c.%02d", a >> 5, a & 0x1f, b & 0x80 ? 'H' : 'M',
                   b & 0x40 ? b & 0x20 ? 12 : 10 : 8);
}

const struct av_codec_row av1_codec = {
    .name = "AV1", .kind = AV_VIDEO,
    .flv = { .ids = { 13 }, .fourcc = { "av01" }, .packet_type = true },
    .rtp = { .names = { "AV1", "AV1X" }, .clock = 90000 },
    .parse = parse, .list_name = list_name,
};
