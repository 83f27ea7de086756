/* SPDX-License-Identifier: MIT */
/* h264.c - parses and builds H.264 decoder configurations. */
#include "av/h264.h"

#include "av/bits.h"
#include "av/nalu.h"
#include "base/rd.h"

#include <stdio.h>

enum { H264_REORDER_MAX = 16 }; /* MaxDpbFrames, A.3.1 */

/* [H.264] annex A.2; `flags` are constraint flags that distinguish a profile. */
static const struct {
    uint8_t idc, flags;
    const char *name;
} profiles[] = {
    { 66, 0x40, "Constrained Baseline" }, { 66, 0, "Baseline" }, { 77, 0, "Main" },
    { 88, 0, "Extended" }, { 100, 0x0c, "Constrained High" }, { 100, 0, "High" },
    { 110, 0x10, "High 10 Intra" }, { 110, 0, "High 10" }, { 122, 0x10, "High 4:2:2 Intra" },
    { 122, 0, "High 4:2:2" }, { 244, 0x10, "High 4:4:4 Intra" }, { 244, 0, "High 4:4:4" },
    { 44, 0, "CAVLC 4:4:4" }, { 83, 0, "Scalable Baseline" }, { 86, 0, "Scalable High" },
    { 118, 0, "Multiview High" }, { 128, 0, "Stereo High" }, { 138, 0, "Multiview Depth High" },
};

static void name_profile(struct av_info *info, uint8_t idc, uint8_t flags, uint8_t level)
{
    snprintf(info->profile, sizeof(info->profile), "%u", idc);
    for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
        if (profiles[i].idc == idc && (flags & profiles[i].flags) == profiles[i].flags) {
            snprintf(info->profile, sizeof(info->profile), "%s", profiles[i].name);
            break;
        }
    }
    /* level 1b is 9, or 11 with constraint_set3_flag in the old profiles ([H.264] A.3.1) */
    if (level == 9 || (level == 11 && flags & 0x10 && idc < 100))
        snprintf(info->level, sizeof(info->level), "1b");
    else if (level % 10 == 0)
        snprintf(info->level, sizeof(info->level), "%u", level / 10);
    else
        snprintf(info->level, sizeof(info->level), "%u.%u", level / 10, level % 10);
}

static bool has_chroma_format(uint8_t profile)
{
    switch (profile) {
    case 100: case 110: case 122: case 244: case 44: case 83: case 86: case 118: case 128:
    case 138: case 139: case 134: case 135:
        return true;
    default:
        return false;
    }
}

/* [H.264] 7.3.2.1.1.1 */
static void skip_scaling_list(struct bits *b, int size)
{
    int64_t last = 8, next = 8;

    for (int i = 0; i < size && !b->bad; i++) {
        if (next != 0)
            next = (last + bits_se(b) + 256) & 0xff;
        if (next != 0)
            last = next;
    }
}

/* Reads the fields that only the high profiles have; returns chroma_format_idc. */
static uint32_t high_fields(struct bits *b)
{
    uint32_t chroma = bits_ue(b);

    if (chroma == 3)
        bits_skip(b, 1); /* separate_colour_plane_flag */
    (void)bits_ue(b);    /* bit_depth_luma_minus8 */
    (void)bits_ue(b);    /* bit_depth_chroma_minus8 */
    bits_skip(b, 1);     /* qpprime_y_zero_transform_bypass_flag */
    if (bits_flag(b)) {
        for (int i = 0; i < (chroma == 3 ? 12 : 8) && !b->bad; i++) {
            if (bits_flag(b))
                skip_scaling_list(b, i < 6 ? 16 : 64);
        }
    }
    return chroma;
}

static void skip_order_count(struct bits *b)
{
    uint32_t type = bits_ue(b);

    if (type == 0) {
        (void)bits_ue(b); /* log2_max_pic_order_cnt_lsb_minus4 */
    } else if (type == 1) {
        uint32_t cycle;

        bits_skip(b, 1);
        (void)bits_se(b);
        (void)bits_se(b);
        cycle = bits_ue(b);
        b->bad |= cycle > 255;
        for (uint32_t i = 0; i < cycle && !b->bad; i++)
            (void)bits_se(b);
    }
}

void h264_vui_skip_display(struct bits *b)
{
    if (bits_flag(b) && bits_u(b, 8) == 255) /* Extended_SAR */
        bits_skip(b, 32);
    if (bits_flag(b))
        bits_skip(b, 1); /* overscan_appropriate_flag */
    if (bits_flag(b)) {  /* video_signal_type_present_flag */
        bits_skip(b, 4);
        if (bits_flag(b))
            bits_skip(b, 24);
    }
    if (bits_flag(b)) { /* chroma_loc_info_present_flag */
        (void)bits_ue(b);
        (void)bits_ue(b);
    }
}

bool h264_vui_rate(struct bits *b, int ticks, double *fps)
{
    uint32_t units, scale;

    if (!bits_flag(b))
        return false;
    units = bits_u(b, 32);
    scale = bits_u(b, 32);
    if (!b->bad && units > 0)
        *fps = (double)scale / ((double)units * ticks);
    return true;
}

/* [H.264] E.1.2 */
static void skip_hrd(struct bits *b)
{
    uint32_t n = bits_ue(b);

    b->bad |= n > 31;
    bits_skip(b, 8);
    for (uint32_t i = 0; i <= n && !b->bad; i++) {
        (void)bits_ue(b);
        (void)bits_ue(b);
        bits_skip(b, 1);
    }
    bits_skip(b, 20);
}

/* [H.264] E.1.1. After a malformed or truncated VUI its values are just unknown. */
static void vui(struct av_info *info, struct bits *b)
{
    bool nal, vcl;
    uint32_t reorder;

    h264_vui_skip_display(b);
    if (h264_vui_rate(b, 2, &info->fps)) /* a tick is a field */
        bits_skip(b, 1); /* fixed_frame_rate_flag */
    nal = bits_flag(b);
    if (nal)
        skip_hrd(b);
    vcl = bits_flag(b);
    if (vcl)
        skip_hrd(b);
    bits_skip(b, nal || vcl ? 2 : 1); /* low_delay_hrd_flag, pic_struct_present_flag */
    if (!bits_flag(b)) /* bitstream_restriction_flag */
        return;
    bits_skip(b, 1);
    for (int i = 0; i < 4; i++)
        (void)bits_ue(b);
    reorder = bits_ue(b); /* max_num_reorder_frames */
    if (!b->bad && reorder <= H264_REORDER_MAX)
        info->reorder = reorder;
}

/* Size in pixels: [H.264] 7.4.2.1.1, cropping by table 6-1. */
static void frame_size(struct av_info *info, struct bits *b, uint32_t chroma)
{
    uint64_t width = ((uint64_t)bits_ue(b) + 1) * 16;
    uint64_t map_height = ((uint64_t)bits_ue(b) + 1) * 16;
    bool frames_only = bits_flag(b);
    uint64_t height = map_height * (frames_only ? 1 : 2);
    uint64_t crop_x = 0, crop_y = 0;

    if (!frames_only)
        bits_skip(b, 1); /* mb_adaptive_frame_field_flag */
    bits_skip(b, 1);     /* direct_8x8_inference_flag */
    if (bits_flag(b)) {
        crop_x = (uint64_t)bits_ue(b) + bits_ue(b);
        crop_y = (uint64_t)bits_ue(b) + bits_ue(b);
        crop_x *= chroma == 1 || chroma == 2 ? 2 : 1;
        crop_y *= (chroma == 1 ? 2 : 1) * (frames_only ? 1 : 2);
    }
    b->bad |= crop_x >= width || crop_y >= height || width > 1 << 16 || height > 1 << 16;
    if (b->bad)
        return;
    info->width = (uint32_t)(width - crop_x);
    info->height = (uint32_t)(height - crop_y);
    info->interlaced = !frames_only;
}

err_t h264_sps_parse(struct av_info *info, const uint8_t *sps, size_t size)
{
    struct bits b = bits_init_nalu(sps, size);
    uint32_t chroma = 1;
    uint8_t profile, flags, level;
    err_t err;

    if (size > 0 && (bits_u(&b, 8) & 0x1f) != H264_SPS)
        return err_new(ERR_CODEC, "NAL unit type %d is no SPS", sps[0] & 0x1f);
    profile = (uint8_t)bits_u(&b, 8);
    flags = (uint8_t)bits_u(&b, 8);
    level = (uint8_t)bits_u(&b, 8);
    (void)bits_ue(&b); /* seq_parameter_set_id */
    if (has_chroma_format(profile))
        chroma = high_fields(&b);
    (void)bits_ue(&b); /* log2_max_frame_num_minus4 */
    skip_order_count(&b);
    (void)bits_ue(&b); /* max_num_ref_frames */
    bits_skip(&b, 1);  /* gaps_in_frame_num_value_allowed_flag */
    frame_size(info, &b, chroma);
    err = bits_err(&b, "H.264 SPS");
    if (err)
        return err;
    name_profile(info, profile, flags, level);
    if (bits_flag(&b))
        vui(info, &b);
    return NULL;
}

static const uint8_t *skip_sets(struct rd *r, unsigned count)
{
    const uint8_t *first = r->p;

    for (unsigned i = 0; i < count; i++)
        (void)rd_take(r, rd_u16(r));
    return count ? first : NULL;
}

/* [AVC-FF] 5.3.3.1.2 */
static err_t h264_record_parse(struct h264_config *c, const uint8_t *config, size_t size)
{
    struct rd r = rd_init(config, size);
    uint8_t version = rd_u8(&r);

    *c = (struct h264_config){ 0 };
    c->profile = rd_u8(&r);
    c->compatibility = rd_u8(&r);
    c->level = rd_u8(&r);
    c->nalu_length = (uint8_t)((rd_u8(&r) & 3) + 1);
    c->sps_count = rd_u8(&r) & 0x1f;
    c->sps = skip_sets(&r, c->sps_count);
    c->pps_count = rd_u8(&r);
    c->pps = skip_sets(&r, c->pps_count);
    if (r.bad)
        return err_new(ERR_CODEC, "avcC ends too early");
    if (version != 1)
        return err_new(ERR_CODEC, "avcC version %d", version);
    if (c->nalu_length == 3)
        return err_new(ERR_CODEC, "avcC with NAL unit lengths of 3 bytes");
    if (c->sps_count == 0)
        return err_new(ERR_CODEC, "avcC without an SPS");
    return NULL;
}

/* Parses the record and its first SPS that is not empty. */
static err_t parse(struct av_info *info, const uint8_t *config, size_t size)
{
    struct h264_config c;
    struct rd r;
    err_t err;

    err = h264_record_parse(&c, config, size);
    if (err)
        return err;
    info->nalu_length = c.nalu_length;
    name_profile(info, c.profile, c.compatibility, c.level);
    r = rd_init(c.sps, (size_t)(config + size - c.sps));
    for (unsigned i = 0; i < c.sps_count; i++) {
        uint16_t n = rd_u16(&r);
        const uint8_t *sps = rd_take(&r, n);

        if (n > 0)
            return h264_sps_parse(info, sps, n);
    }
    return NULL; /* the parameter sets are in the stream */
}

static void list_name(char *out, size_t room, const uint8_t *config, size_t size)
{
    (void)size;
    (void)snprintf(out, room, "avc1.%02x%02x%02x", config[1], config[2], config[3]);
}

static uint8_t type(const uint8_t *unit)
{
    return unit[0] & 0x1f;
}

static err_t sets(const uint8_t *config, size_t size, unsigned *nalu_length, nalu_each each,
                  void *arg)
{
    struct h264_config c;
    err_t err = h264_record_parse(&c, config, size);

    if (err)
        return err;
    *nalu_length = c.nalu_length;
    for (int k = 0; k < 2; k++) {
        const uint8_t *p = k ? c.pps : c.sps;

        for (int i = k ? c.pps_count : c.sps_count; i > 0; i--) {
            size_t n = (size_t)p[0] << 8 | p[1];

            if (n > 0)
                each(arg, p + 2, n);
            p += 2 + n;
        }
    }
    return NULL;
}

static unsigned count(const struct nalu *sets, unsigned n, uint8_t of)
{
    unsigned found = 0;

    for (unsigned i = 0; i < n; i++)
        found += sets[i].size > 0 && type(sets[i].data) == of;
    return found;
}

static void put_sets(struct wr *w, const struct nalu *sets, unsigned n, uint8_t of)
{
    for (unsigned i = 0; i < n; i++) {
        if (sets[i].size == 0 || sets[i].size > UINT16_MAX || type(sets[i].data) != of)
            continue;
        wr_u16(w, (uint16_t)sets[i].size);
        wr_bytes(w, sets[i].data, sets[i].size);
    }
}

/* Writes the final fields that [AVC-FF] 5.3.3.1.2 defines for the high profiles. */
static void put_high(struct wr *w, const struct nalu *sps)
{
    struct bits b = bits_init_nalu(sps->data, sps->size);
    uint32_t chroma, luma_depth, chroma_depth;

    bits_skip(&b, 32);
    (void)bits_ue(&b); /* seq_parameter_set_id */
    chroma = bits_ue(&b);
    if (chroma == 3)
        bits_skip(&b, 1);
    luma_depth = bits_ue(&b);
    chroma_depth = bits_ue(&b);
    if (b.bad || chroma > 3 || luma_depth > 7 || chroma_depth > 7)
        return;
    wr_u8(w, (uint8_t)(0xfc | chroma));
    wr_u8(w, (uint8_t)(0xf8 | luma_depth));
    wr_u8(w, (uint8_t)(0xf8 | chroma_depth));
    wr_u8(w, 0); /* number of SPS extensions */
}

static bool record(struct wr *w, const struct nalu *sets, unsigned n)
{
    unsigned sps = count(sets, n, H264_SPS), pps = count(sets, n, H264_PPS), first = 0;

    if (sps == 0 || sps > 31 || pps == 0 || pps > 255)
        return false;
    while (sets[first].size == 0 || type(sets[first].data) != H264_SPS)
        first++;
    if (sets[first].size < 4)
        return false;
    wr_u8(w, 1);
    wr_bytes(w, sets[first].data + 1, 3); /* profile, compatibility, level */
    wr_u8(w, 0xff);
    wr_u8(w, (uint8_t)(0xe0 | sps));
    put_sets(w, sets, n, H264_SPS);
    wr_u8(w, (uint8_t)pps);
    put_sets(w, sets, n, H264_PPS);
    if (has_chroma_format(sets[first].data[1]))
        put_high(w, &sets[first]);
    return true;
}

static const struct nalu_codec units = {
    .aud = { 9, 0xf0 }, .aud_size = 2, .sei = { 6 }, .sei_size = 1,
    .type = type, .type_aud = H264_AUD, .type_sps = H264_SPS, .sets = sets, .record = record,
};

const struct av_codec_row h264_codec = {
    .name = "H264", .kind = AV_VIDEO,
    .flv = { .ids = { 7 }, .fourcc = { "avc1" }, .legacy = true, .packet_type = true,
             .cts = true },
    .rtp = { .names = { "H264" }, .clock = 90000 },
    .parse = parse, .list_name = list_name, .nalu = &units,
};
