/* SPDX-License-Identifier: MIT */
/* h265.c - what an H.265 decoder configuration says. */
#include "av/h265.h"

#include "av/h265_sps.h"
#include "av/nalu.h"
#include "base/rd.h"

#include <stdio.h>

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

/* The record and its first SPS. */
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
    return NULL; /* the sets come in the stream */
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
    wr_u8(w, (uint8_t)(0x80 | of)); /* all of them are here */
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
