/* SPDX-License-Identifier: MIT */
/* h265.c - parses and builds H.265 decoder configurations. */
#include "av/h265.h"

#include "av/bits.h"
#include "av/codec.h"
#include "av/h264.h"
#include "av/nalu.h"
#include "base/rd.h"

#include <stdio.h>

/* The fields of an SPS that a record repeats, [AVC-FF] 8.3.3.1.2. */
struct h265_sps_head {
    uint8_t profile[12]; /* from general_profile_space to general_level_idc, unchanged */
    uint8_t sub_layers;  /* sps_max_sub_layers_minus1 */
    bool nested;         /* sps_temporal_id_nesting_flag */
    uint8_t chroma, luma_depth, chroma_depth; /* chroma_format_idc; bits - 8 */
};

/* ---- the H.265 sequence parameter set: size, profile, frame rate */

enum { SETS_MAX = 64, PICTURES_MAX = 16, SUB_LAYERS_MAX = 7 };

/* [H.265] annex A.3 */
static const char *const profiles[] = {
    NULL, "Main", "Main 10", "Main Still Picture", "Range Extensions", "High Throughput",
    "Multiview Main", "Scalable Main", "3D Main", "Screen Content", "Scalable Range Ext",
};

static void h265_name_profile(struct av_info *info, uint8_t profile, uint8_t level)
{
    if (profile < sizeof(profiles) / sizeof(profiles[0]) && profiles[profile])
        snprintf(info->profile, sizeof(info->profile), "%s", profiles[profile]);
    else
        snprintf(info->profile, sizeof(info->profile), "%u", profile);
    if (level % 30 == 0)
        snprintf(info->level, sizeof(info->level), "%u", level / 30);
    else
        snprintf(info->level, sizeof(info->level), "%u.%u", level / 30, level % 30 / 3);
}

static void skip_sub_layers(struct bits *b, unsigned sub_layers)
{
    bool profile_there[SUB_LAYERS_MAX], level_there[SUB_LAYERS_MAX];

    for (unsigned i = 0; i < sub_layers; i++) {
        profile_there[i] = bits_flag(b);
        level_there[i] = bits_flag(b);
    }
    if (sub_layers > 0)
        bits_skip(b, 2 * (8 - sub_layers));
    for (unsigned i = 0; i < sub_layers; i++)
        bits_skip(b, (profile_there[i] ? 88 : 0) + (level_there[i] ? 8 : 0));
}

/* [H.265] 7.3.3 */
static void profile_tier_level(struct av_info *info, struct bits *b, unsigned sub_layers)
{
    uint8_t profile;

    bits_skip(b, 3); /* profile space, tier */
    profile = (uint8_t)bits_u(b, 5);
    bits_skip(b, 32 + 48);
    h265_name_profile(info, profile, (uint8_t)bits_u(b, 8));
    skip_sub_layers(b, sub_layers);
}

/* Reads these fields; false if the unit is too short or not an SPS. */
static bool h265_sps_head(struct h265_sps_head *h, const uint8_t *sps, size_t size)
{
    struct bits b = bits_init_nalu(sps, size);
    uint32_t chroma, luma_depth, chroma_depth;

    *h = (struct h265_sps_head){ 0 };
    bits_skip(&b, 16 + 4); /* NAL unit header, sps_video_parameter_set_id */
    h->sub_layers = (uint8_t)bits_u(&b, 3);
    h->nested = bits_flag(&b);
    if (b.bad || h->sub_layers >= SUB_LAYERS_MAX || h265_nalu_type(sps[0]) != H265_SPS)
        return false;
    for (size_t i = 0; i < sizeof(h->profile); i++)
        h->profile[i] = (uint8_t)bits_u(&b, 8);
    skip_sub_layers(&b, h->sub_layers);
    (void)bits_ue(&b); /* sps_seq_parameter_set_id */
    chroma = bits_ue(&b);
    if (chroma == 3)
        bits_skip(&b, 1); /* separate_colour_plane_flag */
    (void)bits_ue(&b);    /* width, height */
    (void)bits_ue(&b);
    for (int i = bits_flag(&b) ? 4 : 0; i > 0; i--)
        (void)bits_ue(&b); /* conformance window */
    luma_depth = bits_ue(&b);
    chroma_depth = bits_ue(&b);
    h->chroma = (uint8_t)(chroma & 3);
    h->luma_depth = (uint8_t)(luma_depth & 7);
    h->chroma_depth = (uint8_t)(chroma_depth & 7);
    return !b.bad && chroma < 4 && luma_depth < 8 && chroma_depth < 8;
}

static void frame_size(struct av_info *info, struct bits *b)
{
    uint32_t chroma = bits_ue(b);
    uint64_t width, height, crop_x = 0, crop_y = 0;

    if (chroma == 3)
        bits_skip(b, 1); /* separate_colour_plane_flag */
    width = bits_ue(b);
    height = bits_ue(b);
    if (bits_flag(b)) { /* conformance window, [H.265] 7.4.3.2.1 */
        crop_x = ((uint64_t)bits_ue(b) + bits_ue(b)) * (chroma == 1 || chroma == 2 ? 2 : 1);
        crop_y = ((uint64_t)bits_ue(b) + bits_ue(b)) * (chroma == 1 ? 2 : 1);
    }
    b->bad |= crop_x >= width || crop_y >= height || width > 1 << 16 || height > 1 << 16;
    if (b->bad)
        return;
    info->width = (uint32_t)(width - crop_x);
    info->height = (uint32_t)(height - crop_y);
}

/* [H.265] 7.3.4 */
static void skip_scaling_lists(struct bits *b)
{
    for (int size = 0; size < 4; size++) {
        for (int matrix = 0; matrix < 6 && !b->bad; matrix += size == 3 ? 3 : 1) {
            if (!bits_flag(b)) {
                (void)bits_ue(b);
                continue;
            }
            if (size > 1)
                (void)bits_se(b);
            for (int i = 0; i < (size == 0 ? 16 : 64) && !b->bad; i++)
                (void)bits_se(b);
        }
    }
}

/* One st_ref_pic_set(), [H.265] 7.3.7. counts[i] is NumDeltaPocs of set i (7.4.8). */
static void ref_pic_set(struct bits *b, unsigned index, unsigned counts[SETS_MAX])
{
    uint32_t negative, positive;

    counts[index] = 0;
    if (index > 0 && bits_flag(b)) { /* inter_ref_pic_set_prediction_flag */
        bits_skip(b, 1);
        (void)bits_ue(b);
        for (unsigned i = 0; i <= counts[index - 1] && !b->bad; i++) {
            bool used = bits_flag(b);

            if (used || bits_flag(b))
                counts[index]++;
        }
        b->bad |= counts[index] > PICTURES_MAX;
        return;
    }
    negative = bits_ue(b);
    positive = bits_ue(b);
    b->bad |= negative > PICTURES_MAX || positive > PICTURES_MAX - negative;
    for (uint32_t i = 0; !b->bad && i < negative + positive; i++) {
        (void)bits_ue(b);
        bits_skip(b, 1);
    }
    if (!b->bad)
        counts[index] = negative + positive;
}

static void skip_ref_pics(struct bits *b, unsigned poc_bits)
{
    unsigned counts[SETS_MAX];
    uint32_t sets = bits_ue(b);

    b->bad |= sets > SETS_MAX;
    for (unsigned i = 0; !b->bad && i < sets; i++)
        ref_pic_set(b, i, counts);
    if (bits_flag(b)) { /* long_term_ref_pics_present_flag */
        uint32_t n = bits_ue(b);

        b->bad |= n > 32;
        if (!b->bad)
            bits_skip(b, (uint64_t)n * (poc_bits + 1));
    }
}

/* Skips from the bit depths to the VUI; true if there is a VUI. */
static bool skip_to_vui(struct av_info *info, struct bits *b, unsigned sub_layers)
{
    uint32_t poc_bits, reorder = 0;
    bool all;

    (void)bits_ue(b); /* bit_depth_luma_minus8 */
    (void)bits_ue(b); /* bit_depth_chroma_minus8 */
    poc_bits = bits_ue(b) + 4;
    b->bad |= poc_bits > 16;
    all = bits_flag(b); /* sps_sub_layer_ordering_info_present_flag */
    for (unsigned i = all ? 0 : sub_layers; i <= sub_layers; i++) {
        (void)bits_ue(b);
        reorder = bits_ue(b); /* sps_max_num_reorder_pics */
        (void)bits_ue(b);
    }
    if (!b->bad && reorder <= PICTURES_MAX)
        info->reorder = reorder;
    for (int k = 0; k < 6; k++) /* block sizes and transform depths */
        (void)bits_ue(b);
    if (bits_flag(b) && bits_flag(b)) /* scaling_list_enabled, sps_scaling_list_data_present */
        skip_scaling_lists(b);
    bits_skip(b, 2);    /* amp_enabled, sample_adaptive_offset_enabled */
    if (bits_flag(b)) { /* pcm_enabled_flag */
        bits_skip(b, 8);
        (void)bits_ue(b);
        (void)bits_ue(b);
        bits_skip(b, 1);
    }
    skip_ref_pics(b, poc_bits);
    bits_skip(b, 2); /* sps_temporal_mvp_enabled, strong_intra_smoothing_enabled */
    return bits_flag(b);
}

/* [H.265] E.2.1, up to the timing. */
static void vui(struct av_info *info, struct bits *b)
{
    h264_vui_skip_display(b);
    bits_skip(b, 3);    /* neutral_chroma, field_seq, frame_field_info */
    if (bits_flag(b)) { /* default_display_window_flag */
        for (int k = 0; k < 4; k++)
            (void)bits_ue(b);
    }
    (void)h264_vui_rate(b, 1, &info->fps);
}

/* [H.265] 7.3.2.2.1. Fields after the frame size are optional: errors there are ignored. */
err_t h265_sps_parse(struct av_info *info, const uint8_t *sps, size_t size)
{
    struct bits b = bits_init_nalu(sps, size);
    unsigned sub_layers;
    err_t err;

    if (size > 0 && h265_nalu_type(sps[0]) != H265_SPS)
        return err_new(ERR_CODEC, "NAL unit type %d is no SPS", h265_nalu_type(sps[0]));
    bits_skip(&b, 16 + 4); /* NAL unit header, sps_video_parameter_set_id */
    sub_layers = bits_u(&b, 3);
    b.bad |= sub_layers >= SUB_LAYERS_MAX;
    bits_skip(&b, 1); /* sps_temporal_id_nesting_flag */
    if (!b.bad)
        profile_tier_level(info, &b, sub_layers);
    (void)bits_ue(&b); /* sps_seq_parameter_set_id */
    frame_size(info, &b);
    err = bits_err(&b, "H.265 SPS");
    if (err)
        return err;
    if (skip_to_vui(info, &b, sub_layers))
        vui(info, &b);
    return NULL;
}

/* [AVC-FF] 8.3.3.1.2 */
static uint8_t record_head(struct h265_config *c, struct rd *r)
{
    uint8_t version = rd_u8(r), b = rd_u8(r);
    uint16_t rate;

    c->profile = b & 0x1f;
    c->tier = b >> 5 & 1;
    (void)rd_take(r, 4 + 6); /* compatibility and constraint flags */
    c->level = rd_u8(r);
    (void)rd_take(r, 2 + 1 + 1 + 1 + 1); /* segmentation, parallelism, chroma, bit depths */
    rate = rd_u16(r);
    c->fps = rate / 256.0;
    c->nalu_length = (uint8_t)((rd_u8(r) & 3) + 1);
    c->sets.arrays = rd_u8(r);
    return version;
}

err_t h265_record_parse(struct h265_config *c, const uint8_t *config, size_t size)
{
    struct rd r = rd_init(config, size);
    uint8_t version;

    *c = (struct h265_config){ 0 };
    version = record_head(c, &r);
    c->sets.p = r.p;
    for (unsigned i = 0; i < c->sets.arrays && !r.bad; i++) {
        uint16_t units;

        (void)rd_u8(&r);
        units = rd_u16(&r);
        for (unsigned k = 0; k < units && !r.bad; k++)
            (void)rd_take(&r, rd_u16(&r));
    }
    c->sets.end = r.p;
    if (r.bad)
        return err_new(ERR_CODEC, "hvcC ends too early");
    /* encoders wrote version 0 until the specification was final */
    if (version > 1)
        return err_new(ERR_CODEC, "hvcC version %d", version);
    if (c->nalu_length == 3)
        return err_new(ERR_CODEC, "hvcC with NAL unit lengths of 3 bytes");
    return NULL;
}

bool h265_sets_next(struct h265_sets *s, const uint8_t **unit, size_t *size)
{
    struct rd r = rd_init(s->p, (size_t)(s->end - s->p));

    while (s->units == 0 && s->arrays > 0) {
        s->arrays--;
        s->type = rd_u8(&r) & 0x3f;
        s->units = rd_u16(&r);
    }
    if (s->units == 0)
        return false;
    s->units--;
    *size = rd_u16(&r);
    *unit = rd_take(&r, *size);
    s->p = r.p;
    return *unit != NULL;
}

/* Parses the record and its first SPS. */
static err_t parse(struct av_info *info, const uint8_t *config, size_t size)
{
    struct h265_config c;
    const uint8_t *unit;
    size_t n;
    err_t err;

    err = h265_record_parse(&c, config, size);
    if (err)
        return err;
    info->nalu_length = c.nalu_length;
    info->fps = c.fps;
    h265_name_profile(info, c.profile, c.level);
    while (h265_sets_next(&c.sets, &unit, &n)) {
        if (c.sets.type == H265_SPS && n > 0)
            return h265_sps_parse(info, unit, n);
    }
    return NULL; /* the parameter sets are in the stream */
}

/* [AVC-FF] annex E */
static void list_name(char *out, size_t room, const uint8_t *config, size_t size)
{
    uint32_t flags = 0;

    (void)size;
    for (int i = 0; i < 32; i++) /* general_profile_compatibility_flags, bits reversed */
        flags |= (uint32_t)(config[2 + i / 8] >> (7 - i % 8) & 1) << i;
    (void)snprintf(out, room, "hvc1.%.1s%d.%X.%c%d.%02X", &"\0ABC"[config[1] >> 6],
                   config[1] & 0x1f, flags, config[1] & 0x20 ? 'H' : 'L', config[12], config[6]);
}

static uint8_t type(const uint8_t *unit)
{
    return (uint8_t)h265_nalu_type(unit[0]);
}

static err_t sets(const uint8_t *config, size_t size, unsigned *nalu_length, nalu_each each,
                  void *arg)
{
    struct h265_config c;
    const uint8_t *unit;
    size_t n;
    err_t err = h265_record_parse(&c, config, size);

    if (err)
        return err;
    *nalu_length = c.nalu_length;
    while (h265_sets_next(&c.sets, &unit, &n)) {
        if (n > 0)
            each(arg, unit, n);
    }
    return NULL;
}

static bool put_array(struct wr *w, const struct nalu *sets, unsigned n, uint8_t of)
{
    unsigned found = 0;

    for (unsigned i = 0; i < n; i++)
        found += sets[i].size > 0 && sets[i].size <= UINT16_MAX && type(sets[i].data) == of;
    wr_u8(w, (uint8_t)(0x80 | of)); /* array_completeness: all sets are here */
    wr_u16(w, (uint16_t)found);
    for (unsigned i = 0; i < n; i++) {
        if (sets[i].size == 0 || sets[i].size > UINT16_MAX || type(sets[i].data) != of)
            continue;
        wr_u16(w, (uint16_t)sets[i].size);
        wr_bytes(w, sets[i].data, sets[i].size);
    }
    return found > 0;
}

/* [AVC-FF] 8.3.3.1.2 */
static bool record(struct wr *w, const struct nalu *sets, unsigned n)
{
    struct h265_sps_head h;
    unsigned i = 0;
    bool all = true;

    while (i < n && (sets[i].size == 0 || type(sets[i].data) != H265_SPS))
        i++;
    if (i == n || !h265_sps_head(&h, sets[i].data, sets[i].size))
        return false;
    wr_u8(w, 1);
    wr_bytes(w, h.profile, sizeof(h.profile));
    wr_u16(w, 0xf000); /* min_spatial_segmentation_idc: not known */
    wr_u8(w, 0xfc);    /* parallelismType: not known */
    wr_u8(w, 0xfc | h.chroma);
    wr_u8(w, 0xf8 | h.luma_depth);
    wr_u8(w, 0xf8 | h.chroma_depth);
    wr_u16(w, 0); /* avgFrameRate: not known */
    wr_u8(w, (uint8_t)((h.sub_layers + 1) << 3 | (h.nested ? 4 : 0) | 3));
    wr_u8(w, 3);
    for (uint8_t of = H265_VPS; of <= H265_PPS; of++)
        all &= put_array(w, sets, n, of);
    return all;
}

static const struct nalu_codec units = {
    .aud = { H265_AUD << 1, 1, 0x50 }, .aud_size = 3, .sei = { H265_PREFIX_SEI << 1, 1 },
    .sei_size = 2, .type = type, .type_aud = H265_AUD, .type_sps = H265_SPS, .sets = sets,
    .record = record,
};

const struct av_codec_row h265_codec = {
    .name = "HEVC", .kind = AV_VIDEO,
    .flv = { .ids = { 12 }, .fourcc = { "hvc1", "hev1" }, .packet_type = true, .cts = true },
    .rtp = { .names = { "H265", "HEVC" }, .clock = 90000 },
    .parse = parse, .list_name = list_name, .nalu = &units,
};
