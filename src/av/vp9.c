/* SPDX-License-Identifier: MIT */
/* vp9.c - parses and builds VP9 decoder configurations. */
#include "av/vp9.h"

#include "av/bits.h"
#include "base/rd.h"

#include <stdio.h>
#include <string.h>

/* In a record without version and flags, a first byte of 1 (the profile) is never followed by three
 * zeros, because the bit depth is not 0. */
const uint8_t *vp9_record(const uint8_t *config, size_t size)
{
    return size >= 4 && memcmp(config, "\x01\x00\x00\x00", 4) == 0 ? config + 4 : config;
}

static err_t parse(struct av_info *info, const uint8_t *config, size_t size)
{
    const uint8_t *record = vp9_record(config, size);
    struct rd r = rd_init(record, size - (size_t)(record - config));
    uint8_t profile, level, depth;

    profile = rd_u8(&r);
    level = rd_u8(&r);
    depth = rd_u8(&r) >> 4;
    (void)rd_take(&r, 3);           /* colour primaries, transfer, matrix */
    (void)rd_take(&r, rd_u16(&r));  /* codec initialization data */
    if (r.bad)
        return err_new(ERR_CODEC, "vpcC ends too early");
    if (profile > 3 || depth < 8)
        return err_new(ERR_CODEC, "vpcC with profile %d and %d bits", profile, depth);
    snprintf(info->profile, sizeof(info->profile), "Profile %d", profile);
    if (level > 0)
        snprintf(info->level, sizeof(info->level), "%d.%d", level / 10, level % 10);
    return NULL;
}

/* [VP9] 7.2.2; false if the profile does not allow the color configuration. */
static bool skip_color(struct bits *b, unsigned profile)
{
    if (profile >= 2)
        bits_skip(b, 1); /* ten_or_twelve_bit */
    if (bits_u(b, 3) != 7) { /* CS_RGB */
        bits_skip(b, profile & 1 ? 4 : 1);
        return true;
    }
    bits_skip(b, 1);
    return profile & 1;
}

static bool key_size(const uint8_t *frame, size_t size, uint32_t *width, uint32_t *height)
{
    struct bits b = bits_init(frame, size);
    uint32_t marker = bits_u(&b, 2);
    unsigned profile = bits_u(&b, 1);

    profile |= bits_u(&b, 1) << 1;
    if (profile == 3)
        bits_skip(&b, 1);
    if (marker != 2 || bits_flag(&b) || bits_flag(&b)) /* show_existing_frame, or not a key frame */
        return false;
    bits_skip(&b, 2); /* show_frame, error_resilient_mode */
    if (bits_u(&b, 24) != 0x498342 || !skip_color(&b, profile))
        return false;
    *width = bits_u(&b, 16) + 1;
    *height = bits_u(&b, 16) + 1;
    return !b.bad;
}

/* [VP9] annex A: the level for a number of pixels. */
static uint8_t level_of(uint32_t width, uint32_t height)
{
    static const struct {
        uint32_t pixels;
        uint8_t level;
    } levels[] = { { 36864, 10 }, { 73728, 11 }, { 122880, 20 }, { 245760, 21 }, { 552960, 30 },
                   { 983040, 31 }, { 2228224, 40 }, { 8912896, 50 } };

    for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++) {
        if ((uint64_t)width * height <= levels[i].pixels)
            return levels[i].level;
    }
    return 60;
}

bool vp9_record_build(struct wr *w, const uint8_t *frame, size_t size)
{
    struct bits b = bits_init(frame, size);
    uint32_t width, height, space;
    unsigned profile, depth = 8, sampling = 1; /* 4:2:0, in line with the luma */

    if (!key_size(frame, size, &width, &height))
        return false;
    bits_skip(&b, 2);
    profile = bits_u(&b, 1);
    profile |= bits_u(&b, 1) << 1;
    bits_skip(&b, (profile == 3) + 4 + 24); /* up to the colors */
    if (profile >= 2)
        depth = bits_flag(&b) ? 12 : 10;
    space = bits_u(&b, 3);
    if (space == 7)
        sampling = 3;
    else if (bits_skip(&b, 1), profile & 1)
        sampling = bits_u(&b, 2) == 0 ? 3 : 2;
    wr_u32(w, 0x01000000);
    wr_u8(w, (uint8_t)profile);
    wr_u8(w, level_of(width, height));
    wr_u8(w, (uint8_t)(depth << 4 | sampling << 1));
    wr_u24(w, 0x020202); /* colors: unspecified */
    wr_u16(w, 0);
    return !b.bad;
}

static void list_name(char *out, size_t room, const uint8_t *config, size_t size)
{
    const uint8_t *v = vp9_record(config, size);

    (void)snprintf(out, room, "vp09.%02d.%02d.%02d", v[0], v[1], v[2] >> 4);
}

const struct av_codec_row vp9_codec = {
    .name = "VP9", .kind = AV_VIDEO, .flv = { .fourcc = { "vp09" } },
    .rtp = { .names = { "VP9" }, .clock = 90000 },
    .parse = parse, .list_name = list_name, .key_size = key_size,
};
