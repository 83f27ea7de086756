/* SPDX-License-Identifier: MIT */
/* formats.c - payload formats: a row for each codec that RTP carries. */
#include "format/rtp/formats.h"

#include "format/rtp/pack_impl.h"
#include "format/rtp/unpack_impl.h"

#include <string.h>
#include <strings.h>

enum { G711_RATE = 8000 };

static const struct rtp_format rows[] = {
    { .codec = AV_H264, .nal = &nal_h264, .video = &rtp_nal_video,
      .configure = rtp_nal_configure, .pack = rtp_nal_pack, .unpack = rtp_video_unpack,
      .read = rtp_h264_read, .write = rtp_h264_write },
    { .codec = AV_H265, .nal = &nal_h265, .video = &rtp_nal_video,
      .configure = rtp_nal_configure, .pack = rtp_nal_pack, .unpack = rtp_video_unpack,
      .read = rtp_h265_read, .write = rtp_h265_write },
    { .codec = AV_AV1, .video = &rtp_av1_video, .configure = rtp_av1_configure,
      .pack = rtp_av1_pack, .unpack = rtp_video_unpack, .write = rtp_av1_write },
    { .codec = AV_VP9, .video = &rtp_vp9_video, .pack = rtp_vp9_pack, .unpack = rtp_video_unpack,
      .write = rtp_vp9_write },
    { .codec = AV_AAC, .configure = rtp_aac_configure, .pack = rtp_aac_pack,
      .flush = rtp_aac_flush, .unpack = rtp_aac_unpack, .read = rtp_aac_read,
      .write = rtp_aac_write },
    { .codec = AV_AAC, .alias = "MP4A-LATM", .unpack = rtp_latm_unpack, .read = rtp_latm_read },
    { .codec = AV_MP3, .pack = rtp_mp3_pack, .unpack = rtp_mp3_unpack },
    { .codec = AV_OPUS, .pack = rtp_opus_pack, .unpack = rtp_raw_unpack, .read = rtp_opus_read,
      .write = rtp_opus_write },
    { .codec = AV_G711A, .pack = rtp_g711_pack, .unpack = rtp_raw_unpack, .read = rtp_g711_read },
    { .codec = AV_G711U, .pack = rtp_g711_pack, .unpack = rtp_raw_unpack, .read = rtp_g711_read },
};

enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

const struct rtp_format *rtp_format_of(enum av_codec codec)
{
    for (int i = 0; i < ROWS; i++) {
        if (rows[i].codec == codec && rows[i].pack)
            return &rows[i];
    }
    return NULL;
}

static bool is_called(const struct rtp_format *f, const char *name, size_t size)
{
    const struct av_codec_rtp *rtp = &av_codec_row(f->codec)->rtp;
    const char *names[2] = { rtp->names[0], rtp->names[1] };

    if (f->alias) {
        names[0] = f->alias;
        names[1] = NULL;
    }
    for (int i = 0; i < 2 && names[i]; i++) {
        if (strlen(names[i]) == size && strncasecmp(names[i], name, size) == 0)
            return true;
    }
    return false;
}

const struct rtp_format *rtp_format_named(enum av_kind kind, const char *name, size_t size)
{
    for (int i = 0; i < ROWS; i++) {
        if (av_codec_row(rows[i].codec)->kind == kind && is_called(&rows[i], name, size))
            return &rows[i];
    }
    return NULL;
}

const struct rtp_format *rtp_format_fixed(uint8_t type)
{
    for (int i = 0; i < ROWS; i++) {
        const struct av_codec_rtp *rtp = &av_codec_row(rows[i].codec)->rtp;

        if (rtp->fixed && rtp->type == type)
            return &rows[i];
    }
    return NULL;
}

bool rtp_map_of(struct rtp_map *m, enum av_codec codec, const uint8_t *config, size_t size)
{
    const struct av_codec_rtp *rtp = &av_codec_row(codec)->rtp;
    struct av_info info = { 0 };
    err_t err;

    if (!rtp_format_of(codec))
        return false;
    *m = (struct rtp_map){ .name = rtp->names[0], .clock = rtp->clock, .channels = rtp->channels,
                           .fixed = rtp->fixed, .type = rtp->type };
    if (m->clock == 0 && rtp->fixed)
        m->clock = G711_RATE;
    if (m->clock > 0)
        return true;
    err = av_info_parse(&info, codec, config, size);
    m->clock = info.coded_rate;
    m->channels = info.channels;
    err_free(&err);
    return m->clock > 0;
}

void rtp_fmtp_write(struct wr *w, enum av_codec codec, const uint8_t *config, size_t size)
{
    const struct rtp_format *f = rtp_format_of(codec);

    if (f && f->write)
        f->write(w, codec, config, size);
}
