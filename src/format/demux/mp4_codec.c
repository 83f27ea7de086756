/* SPDX-License-Identifier: MIT */
/* mp4_codec.c - reads the first entry of a sample description, [ISO-FF] 8.5.2 and 12: the codec and
 * its decoder configuration in the form of av/packet.h. format/mp4/stsd.c writes such entries.
 *
 * [AVC-FF] 14496-15, [MP4-FF] 14496-14, [QT] QuickTime File Format, "Sound Sample Description". */
#include "av/opus.h"
#include "format/demux/mp4.h"

#include <stdlib.h>
#include <string.h>

enum {
    CONFIG_MAX = 64 * 1024, VIDEO_ENTRY = 78, AUDIO_ENTRY = 28,
    AUDIO_V1 = 16, AUDIO_V2 = 36, /* additional bytes of a QuickTime entry */
};

/* Stores a copy of the rest of `r` in `c`, after `before` free bytes. */
static bool keep(struct mp4_codec *c, struct rd r, size_t before)
{
    size_t n = rd_left(&r);

    c->config = malloc(before + n);
    if (!c->config)
        return false;
    c->size = before + n;
    if (n > 0)
        memcpy(c->config + before, r.p, n);
    return true;
}

/* ------------------------------------------------------------ video */

/* [AVC-FF] 5.3.3.1: with a length of 1, 2 or 4 bytes, and parameter sets. */
static bool is_avcc(const struct rd *r)
{
    return rd_left(r) >= 7 && r->p[0] == 1 && (r->p[4] & 3) != 2 && (r->p[5] & 0x1f) > 0;
}

/* [AVC-FF] 8.3.3.1 */
static bool is_hvcc(const struct rd *r)
{
    return rd_left(r) >= 23 && (r->p[21] & 3) != 2 && r->p[22] > 0;
}

static bool is_av1c(const struct rd *r)
{
    return rd_left(r) >= 4 && r->p[0] == 0x81;
}

/* With version and flags, like FLV publishers send it. */
static bool is_vpcc(const struct rd *r)
{
    return rd_left(r) >= 12 && r->p[0] == 1;
}

static const struct video_entry {
    uint32_t type, config;
    enum av_codec codec;
    bool (*is)(const struct rd *r);
} video_entries[] = {
    { MP4_TYPE('a', 'v', 'c', '1'), MP4_TYPE('a', 'v', 'c', 'C'), AV_H264, is_avcc },
    { MP4_TYPE('a', 'v', 'c', '3'), MP4_TYPE('a', 'v', 'c', 'C'), AV_H264, is_avcc },
    { MP4_TYPE('h', 'v', 'c', '1'), MP4_TYPE('h', 'v', 'c', 'C'), AV_H265, is_hvcc },
    { MP4_TYPE('h', 'e', 'v', '1'), MP4_TYPE('h', 'v', 'c', 'C'), AV_H265, is_hvcc },
    { MP4_TYPE('a', 'v', '0', '1'), MP4_TYPE('a', 'v', '1', 'C'), AV_AV1, is_av1c },
    { MP4_TYPE('v', 'p', '0', '9'), MP4_TYPE('v', 'p', 'c', 'C'), AV_VP9, is_vpcc },
};

static bool read_video(struct mp4_codec *c, const struct mp4_node *entry)
{
    struct rd r = entry->body;

    (void)rd_take(&r, VIDEO_ENTRY);
    for (size_t i = 0; i < sizeof(video_entries) / sizeof(video_entries[0]); i++) {
        const struct video_entry *e = &video_entries[i];
        struct rd config;

        if (e->type != entry->type)
            continue;
        config = mp4_tree_find(r, e->config);
        if (config.bad || rd_left(&config) > CONFIG_MAX || !e->is(&config))
            return true;
        c->codec = e->codec;
        return keep(c, config, 0);
    }
    return true;
}

/* ------------------------------------------------------------ audio */

/* A descriptor of ISO/IEC 14496-1 8.3.3, its size in 1 to 4 bytes. */
static struct rd descriptor(struct rd *r, uint8_t *tag)
{
    size_t size = 0;
    uint8_t byte = 0x80;

    *tag = rd_u8(r);
    for (int i = 0; i < 4 && byte & 0x80; i++) {
        byte = rd_u8(r);
        size = size << 7 | (byte & 0x7f);
    }
    if (size > rd_left(r)) /* some files have a size that is too large */
        size = rd_left(r);
    return rd_sub(r, size);
}

/* [MP4-FF] 3.1.2: skips the optional fields of ES_Descriptor, ISO/IEC 14496-1 7.2.6.5. */
static void skip_es(struct rd *r)
{
    uint8_t flags;

    (void)rd_u16(r);
    flags = rd_u8(r);
    if (flags & 0x80)
        (void)rd_u16(r);
    if (flags & 0x40)
        (void)rd_take(r, rd_u8(r));
    if (flags & 0x20)
        (void)rd_u16(r);
}

static bool read_esds(struct mp4_codec *c, struct rd r)
{
    uint8_t tag, object;
    struct rd es, decoder, special;

    (void)rd_u32(&r); /* version and flags */
    es = descriptor(&r, &tag);
    if (tag != 3)
        return true;
    skip_es(&es);
    decoder = descriptor(&es, &tag);
    object = rd_u8(&decoder);
    (void)rd_take(&decoder, 12);
    if (tag != 4 || decoder.bad)
        return true;
    if (object == 0x69 || object == 0x6b) { /* ISO/IEC 13818-3 and 11172-3 */
        c->codec = AV_MP3;
        return true;
    }
    special = descriptor(&decoder, &tag);
    if ((object != 0x40 && (object < 0x66 || object > 0x68)) || tag != 5 ||
        rd_left(&special) < 2 || rd_left(&special) > CONFIG_MAX)
        return true;
    c->codec = AV_AAC;
    return keep(c, special, 0);
}

/* [QT]: the esds may be inside a `wave` box. */
static struct rd find_esds(struct rd r)
{
    struct rd esds = mp4_tree_find(r, MP4_TYPE('e', 's', 'd', 's')), wave;

    if (!esds.bad)
        return esds;
    wave = mp4_tree_find(r, MP4_TYPE('w', 'a', 'v', 'e'));
    return wave.bad ? wave : mp4_tree_find(wave, MP4_TYPE('e', 's', 'd', 's'));
}

/* An entry of version 1 is longer in QuickTime, but not in [ISO-FF] 12.2.3. */
static bool read_mp4a(struct mp4_codec *c, struct rd r, unsigned version)
{
    struct rd plain = r, esds;

    if (version == 1 || version == 2)
        (void)rd_take(&r, version == 1 ? AUDIO_V1 : AUDIO_V2);
    esds = find_esds(r);
    if (esds.bad)
        esds = find_esds(plain);
    return esds.bad || read_esds(c, esds);
}

static void put_le(uint8_t *p, uint32_t v, int n)
{
    for (int i = 0; i < n; i++, v >>= 8)
        p[i] = (uint8_t)v;
}

/* "Encapsulation of Opus in ISOBMFF" 4.3.2: an OpusHead with big-endian numbers. */
static bool read_opus(struct mp4_codec *c, struct rd r)
{
    struct rd dops = mp4_tree_find(r, MP4_TYPE('d', 'O', 'p', 's'));
    uint8_t channels, family;
    uint32_t skip, rate, gain;

    (void)rd_u8(&dops);
    channels = rd_u8(&dops);
    skip = rd_u16(&dops);
    rate = rd_u32(&dops);
    gain = rd_u16(&dops);
    family = rd_u8(&dops);
    if (dops.bad || channels == 0 || (family && rd_left(&dops) < 2u + channels))
        return true;
    if (!family)
        dops.p = dops.end;
    if (!keep(c, dops, OPUS_HEAD))
        return false;
    memcpy(c->config, "OpusHead\1", 9);
    c->config[9] = channels;
    put_le(c->config + 10, skip, 2);
    put_le(c->config + 12, rate, 4);
    put_le(c->config + 16, gain, 2);
    c->config[18] = family;
    c->codec = AV_OPUS;
    return true;
}

/* "Encapsulation of FLAC in ISOBMFF" 3.3.2: metadata blocks, STREAMINFO first. */
static bool read_flac(struct mp4_codec *c, struct rd r)
{
    struct rd dfla = mp4_tree_find(r, MP4_TYPE('d', 'f', 'L', 'a'));

    (void)rd_u32(&dfla);
    if (dfla.bad || rd_left(&dfla) < 4 + 34 || rd_left(&dfla) > CONFIG_MAX)
        return true;
    if (!keep(c, dfla, 4))
        return false;
    memcpy(c->config, "fLaC", 4);
    c->codec = AV_FLAC;
    return true;
}

static bool read_audio(struct mp4_codec *c, const struct mp4_node *entry)
{
    struct rd r = entry->body;
    unsigned version;

    (void)rd_take(&r, 8);
    version = rd_u16(&r);
    (void)rd_take(&r, AUDIO_ENTRY - 8 - 2);
    switch (entry->type) {
    case MP4_TYPE('m', 'p', '4', 'a'):
        return read_mp4a(c, r, version);
    case MP4_TYPE('.', 'm', 'p', '3'):
        c->codec = AV_MP3;
        return true;
    case MP4_TYPE('O', 'p', 'u', 's'):
        return read_opus(c, r);
    case MP4_TYPE('f', 'L', 'a', 'C'):
        return read_flac(c, r);
    default:
        return true;
    }
}

bool mp4_codec_read(struct mp4_codec *c, bool video, struct rd stsd)
{
    struct mp4_node entry;

    *c = (struct mp4_codec){ 0 };
    (void)rd_take(&stsd, 8);
    if (!mp4_tree_next(&stsd, &entry))
        return true;
    return video ? read_video(c, &entry) : read_audio(c, &entry);
}
