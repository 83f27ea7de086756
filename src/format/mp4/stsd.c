/* SPDX-License-Identifier: MIT */
/* stsd.c - sample descriptions, [ISO-FF] 8.5.2 and 12. */
#include "av/vp9.h"
#include "format/mp4/box.h"
#include "format/mp4/track.h"

#include <string.h>

static const struct {
    enum av_codec codec;
    const char *entry, *config;
} types[] = {
    { AV_H264, "avc1", "avcC" }, { AV_H265, "hvc1", "hvcC" }, { AV_AV1, "av01", "av1C" },
    { AV_VP9, "vp09", "vpcC" },  { AV_AAC, "mp4a", "esds" },  { AV_MP3, "mp4a", "esds" },
    { AV_OPUS, "Opus", "dOps" }, { AV_FLAC, "fLaC", "dfLa" },
};

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

/* A descriptor of ISO/IEC 14496-1 8.3.3 whose size fits 7 bits, or 14. */
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

/* [MP4-FF] 3.1.2 */
static void esds(const struct mp4_track *t, struct wr *w)
{
    bool aac = t->codec == AV_AAC;
    size_t special = aac ? t->config.len : 0;
    size_t decoder = 13 + (aac ? with_head(special) : 0);

    descriptor(w, 3, 3 + with_head(decoder) + 3);
    wr_u16(w, (uint16_t)t->id);
    wr_u8(w, 0);
    descriptor(w, 4, decoder);
    wr_u8(w, aac ? 0x40 : t->info.sample_rate < 32000 ? 0x69 : 0x6b);
    wr_u8(w, 0x15); /* audio stream */
    wr_u24(w, 0);
    wr_u32(w, 0);
    wr_u32(w, 0);
    if (aac) {
        descriptor(w, 5, special);
        wr_bytes(w, t->config.buf, special);
    }
    descriptor(w, 6, 1);
    wr_u8(w, 2);
}

/* [Opus-FF] 4.3.2: an OpusHead with its numbers turned round. */
static void dops(const struct mp4_track *t, struct wr *w)
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

static void config_box(const struct mp4_track *t, const char *type, struct wr *w)
{
    size_t n = t->config.len, box;

    switch (t->codec) {
    case AV_VP9: {
        const uint8_t *v = vp9_record(t->config.buf, n);

        box = mp4_full_box(w, type, 1, 0);
        wr_bytes(w, v, n - (size_t)(v - t->config.buf));
        break;
    }
    case AV_AAC:
    case AV_MP3:
        box = mp4_full_box(w, type, 0, 0);
        esds(t, w);
        break;
    case AV_OPUS:
        box = mp4_box(w, type);
        dops(t, w);
        break;
    case AV_FLAC: /* the metadata blocks after "fLaC" */
        box = mp4_full_box(w, type, 0, 0);
        wr_bytes(w, t->config.buf + 4, n - 4);
        break;
    default:
        box = mp4_box(w, type);
        wr_bytes(w, t->config.buf, n);
    }
    mp4_end(w, box);
}

void mp4_track_stsd(const struct mp4_track *t, struct wr *w)
{
    size_t stsd = mp4_full_box(w, "stsd", 0, 0), entry, i = 0;

    while (types[i].codec != t->codec)
        i++;
    wr_u32(w, 1);
    entry = mp4_box(w, types[i].entry);
    mp4_zeros(w, 6);
    wr_u16(w, 1); /* data_reference_index */
    if (av_codec_row(t->codec)->kind == AV_VIDEO)
        video_entry(t, w);
    else
        audio_entry(t, w);
    config_box(t, types[i].config, w);
    mp4_end(w, entry);
    mp4_end(w, stsd);
}
