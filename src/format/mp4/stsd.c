/* SPDX-License-Identifier: MIT */
/* stsd.c - sample descriptions, [ISO-FF] 8.5.2 and 12: a row for each codec that MP4 carries. */
#include "av/vp9.h"
#include "format/mp4/box.h"
#include "format/mp4/track.h"

#include <string.h>

/* [ISO-FF] 12.1.3 */
static void video_entry(const struct mp4_track *t, struct wr *w)
{
    wr_u16(w, 0); /* pre_defined */
    wr_u16(w, 0);
    mp4_zeros(w, 12);
    wr_u16(w, (uint16_t)t->info.width);
    wr_u16(w, (uint16_t)t->info.height);
    wr_u32(w, 0x00480000); /* 72 dpi */
    wr_u32(w, 0x00480000);
    wr_u32(w, 0);
    wr_u16(w, 1);     /* frame_count */
    mp4_zeros(w, 32); /* compressorname */
    wr_u16(w, 24);
    wr_u16(w, 0xffff);
}

/* [ISO-FF] 12.2.3 */
static void audio_entry(const struct mp4_track *t, struct wr *w)
{
    uint32_t rate = t->info.sample_rate;

    mp4_zeros(w, 8);
    wr_u16(w, (uint16_t)t->info.channels);
    wr_u16(w, 16);
    wr_u32(w, 0);
    wr_u32(w, rate < 65536 ? rate << 16 : 0);
}

/* Writes the header of a descriptor, ISO/IEC 14496-1 8.3.3, whose size fits into 7 or 14 bits. */
static void descriptor(struct wr *w, uint8_t tag, size_t size)
{
    wr_u8(w, tag);
    if (size > 127)
        wr_u8(w, (uint8_t)(0x80 | size >> 7));
    wr_u8(w, (uint8_t)(size & 0x7f));
}

static size_t with_head(size_t size)
{
    return size + (size > 127 ? 3 : 2);
}

/* [MP4-FF] 3.1.2. `special`: the DecoderSpecificInfo of `size` bytes, or NULL. */
static void esds(const struct mp4_track *t, uint8_t object_type, const uint8_t *special,
                 size_t size, struct wr *w)
{
    size_t decoder = 13 + (special ? with_head(size) : 0);

    descriptor(w, 3, 3 + with_head(decoder) + 3);
    wr_u16(w, (uint16_t)t->id);
    wr_u8(w, 0);
    descriptor(w, 4, decoder);
    wr_u8(w, object_type);
    wr_u8(w, 0x15); /* audio stream */
    wr_u24(w, 0);
    wr_u32(w, 0);
    wr_u32(w, 0);
    if (special) {
        descriptor(w, 5, size);
        wr_bytes(w, special, size);
    }
    descriptor(w, 6, 1);
    wr_u8(w, 2);
}

static void put_config(const struct mp4_track *t, struct wr *w)
{
    wr_bytes(w, t->config.buf, t->config.len);
}

static void put_aac(const struct mp4_track *t, struct wr *w)
{
    esds(t, 0x40, t->config.buf, t->config.len, w);
}

/* The object type depends on whether the sample rate is halved. */
static void put_mp3(const struct mp4_track *t, struct wr *w)
{
    esds(t, t->info.sample_rate < 32000 ? 0x69 : 0x6b, NULL, 0, w);
}

static void put_vp9(const struct mp4_track *t, struct wr *w)
{
    const uint8_t *record = vp9_record(t->config.buf, t->config.len);

    wr_bytes(w, record, t->config.len - (size_t)(record - t->config.buf));
}

/* The metadata blocks after "fLaC". */
static void put_flac(const struct mp4_track *t, struct wr *w)
{
    wr_bytes(w, t->config.buf + 4, t->config.len - 4);
}

/* [Opus-FF] 4.3.2: an OpusHead with big-endian numbers. */
static void put_opus(const struct mp4_track *t, struct wr *w)
{
    const uint8_t *c = t->config.buf;
    size_t n = t->config.len;

    wr_u8(w, 0);
    wr_u8(w, c[9]);
    wr_u16(w, (uint16_t)(c[10] | c[11] << 8));
    wr_u32(w, (uint32_t)c[12] | (uint32_t)c[13] << 8 | (uint32_t)c[14] << 16 |
              (uint32_t)c[15] << 24);
    wr_u16(w, (uint16_t)(c[16] | c[17] << 8));
    wr_bytes(w, c + 18, c[18] ? n - 18 : 1);
}

/* The sample entry, and the box with the configuration in it. Version -1: the box has none. */
static const struct entry {
    const char *type, *config;
    int version;
    void (*put)(const struct mp4_track *t, struct wr *w);
    const char *brand; /* that a player must support, or NULL */
} entries[AV_CODECS] = {
    [AV_H264] = { "avc1", "avcC", -1, put_config, "avc1" },
    [AV_H265] = { "hvc1", "hvcC", -1, put_config, NULL },
    [AV_AV1] = { "av01", "av1C", -1, put_config, NULL },
    [AV_VP9] = { "vp09", "vpcC", 1, put_vp9, NULL },
    [AV_AAC] = { "mp4a", "esds", 0, put_aac, NULL },
    [AV_MP3] = { "mp4a", "esds", 0, put_mp3, NULL },
    [AV_OPUS] = { "Opus", "dOps", -1, put_opus, NULL },
    [AV_FLAC] = { "fLaC", "dfLa", 0, put_flac, NULL },
};

bool mp4_track_takes(enum av_codec codec)
{
    return (unsigned)codec < AV_CODECS && entries[codec].type;
}

const char *mp4_track_brand(const struct mp4_track *t)
{
    return entries[t->codec].brand;
}

void mp4_track_stsd(const struct mp4_track *t, struct wr *w)
{
    const struct entry *e = &entries[t->codec];
    size_t stsd = mp4_full_box(w, "stsd", 0, 0), entry, config;

    wr_u32(w, 1);
    entry = mp4_box(w, e->type);
    mp4_zeros(w, 6);
    wr_u16(w, 1); /* data_reference_index */
    if (t->kind == AV_VIDEO)
        video_entry(t, w);
    else
        audio_entry(t, w);
    config = e->version < 0 ? mp4_box(w, e->config)
                            : mp4_full_box(w, e->config, (uint8_t)e->version, 0);
    e->put(t, w);
    mp4_end(w, config);
    mp4_end(w, entry);
    mp4_end(w, stsd);
}
