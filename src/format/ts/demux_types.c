/* SPDX-License-Identifier: MIT */
/* demux_types.c - identifies streams by the types and descriptors in the PMT: [TS] 2.4.4.9 and 2.6,
 * [DVB-SI] ETSI EN 300 468 for the descriptors of private data. */
#include "base/rd.h"
#include "format/ts/demux_impl.h"

#include <string.h>

enum { PRIVATE = 0x06, REGISTRATION = 0x05, EXTENSION = 0x7f, OPUS_EXTENSION = 0x80,
       STEREO = 2, OPUS_CHANNELS = 8 };

static const struct ts_reader readers[] = {
    { 0x1b, NULL, AV_H264, &ts_nal_video, NULL },
    { 0x24, NULL, AV_H265, &ts_nal_video, NULL },
    { PRIVATE, "AV01", AV_AV1, &ts_av1_video, NULL },
    { 0x0f, NULL, AV_AAC, NULL, &ts_adts_audio },
    { 0x11, NULL, AV_AAC, NULL, &ts_latm_audio },
    { 0x03, NULL, AV_MP3, NULL, &ts_mp3_audio },
    { 0x04, NULL, AV_MP3, NULL, &ts_mp3_audio },
    { PRIVATE, "Opus", AV_OPUS, NULL, &ts_opus_audio },
};

static const struct {
    uint8_t type;
    const char *name;
} names[] = {
    { 0x01, "MPEG-1 video" }, { 0x02, "MPEG-2 video" }, { 0x05, "private sections" },
    { 0x06, "private data" }, { 0x10, "MPEG-4 video" }, { 0x15, "metadata" },
    { 0x1c, "MPEG-4 audio" }, { 0x20, "MVC video" }, { 0x21, "JPEG 2000" }, { 0x33, "VVC" },
    { 0x42, "AVS video" }, { 0x80, "LPCM" }, { 0x81, "AC-3" }, { 0x82, "DTS" },
    { 0x83, "TrueHD" }, { 0x84, "E-AC-3" }, { 0x85, "DTS-HD" }, { 0x86, "SCTE-35" },
    { 0x87, "E-AC-3" }, { 0x8a, "DTS" }, { 0xd2, "AVS2 video" }, { 0xd4, "AVS3 video" },
    { 0xea, "VC-1" },
};

/* Descriptors of private data. */
static const struct {
    uint8_t tag;
    const char *name;
} tags[] = {
    { 0x45, "VBI data" }, { 0x46, "VBI teletext" }, { 0x56, "teletext" },
    { 0x59, "DVB subtitles" }, { 0x6a, "AC-3" }, { 0x7a, "E-AC-3" }, { 0x7b, "DTS" },
    { 0x7c, "AAC" },
};

struct descriptors { /* the fields that are used */
    char registration[5];
    uint8_t channels;
    const char *name;
};

static void read_descriptors(struct descriptors *d, const uint8_t *info, size_t size)
{
    struct rd r = rd_init(info, size);

    *d = (struct descriptors){ .channels = STEREO };
    while (rd_left(&r) >= 2) {
        uint8_t tag = rd_u8(&r), n = rd_u8(&r);
        const uint8_t *p = rd_take(&r, n);

        if (!p)
            return;
        if (tag == REGISTRATION && n >= 4 && !d->registration[0])
            memcpy(d->registration, p, 4);
        if (tag == EXTENSION && n >= 2 && p[0] == OPUS_EXTENSION)
            d->channels = p[1];
        for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++) {
            if (tags[i].tag == tag)
                d->name = tags[i].name;
        }
    }
}

static const char *name_of(uint8_t type, const struct descriptors *d)
{
    if (type == PRIVATE && d->name)
        return d->name;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].type == type)
            return names[i].name;
    }
    return "unknown";
}

struct ts_stream ts_stream_of(uint8_t type, const uint8_t *info, size_t size)
{
    struct ts_stream s = { .type = type };
    struct descriptors d;

    read_descriptors(&d, info, size);
    s.channels = d.channels;
    s.name = name_of(type, &d);
    for (size_t i = 0; i < sizeof(readers) / sizeof(readers[0]); i++) {
        const struct ts_reader *r = &readers[i];

        if (r->type != type || (r->registration && memcmp(r->registration, d.registration, 4) != 0))
            continue;
        s.name = av_codec_name(r->codec);
        if (r->codec != AV_OPUS || (s.channels > 0 && s.channels <= OPUS_CHANNELS))
            s.reader = r;
        return s;
    }
    return s;
}
