/* SPDX-License-Identifier: MIT */
/* codec.c - the codec table. */
#include "av/codec.h"

#include "av/aac.h"
#include "av/av1.h"
#include "av/h264.h"
#include "av/h265.h"
#include "av/mp3.h"
#include "av/opus.h"
#include "av/vp9.h"

#include <string.h>

/* FLV ids: [FLV] E.4.2.1 and E.4.3.1; 12 for HEVC is what encoders used before enhanced RTMP.
 * FourCCs: [ERTMP] "Enhanced audio" and "Enhanced video". */
static const struct av_codec_row rows[AV_CODECS] = {
    [AV_CODEC_NONE] = { "unknown", AV_DATA,  -1, { "", "" },         NULL },
    [AV_H264]  = { "H264",  AV_VIDEO,  7, { "avc1", "" },     h264_config_parse },
    [AV_H265]  = { "HEVC",  AV_VIDEO, 12, { "hvc1", "hev1" }, h265_config_parse },
    [AV_AV1]   = { "AV1",   AV_VIDEO, 13, { "av01", "" },     av1_config_parse },
    [AV_VP9]   = { "VP9",   AV_VIDEO, -1, { "vp09", "" },     vp9_config_parse },
    [AV_VP8]   = { "VP8",   AV_VIDEO, -1, { "vp08", "" },     NULL },
    [AV_AAC]   = { "AAC",   AV_AUDIO, 10, { "mp4a", "" },     aac_config_parse },
    [AV_MP3]   = { "MP3",   AV_AUDIO,  2, { ".mp3", "" },     mp3_config_parse },
    [AV_OPUS]  = { "Opus",  AV_AUDIO, 13, { "Opus", "" },     opus_config_parse },
    [AV_FLAC]  = { "FLAC",  AV_AUDIO, -1, { "fLaC", "" },     NULL },
    [AV_AC3]   = { "AC3",   AV_AUDIO, -1, { "ac-3", "" },     NULL },
    [AV_EAC3]  = { "EAC3",  AV_AUDIO, -1, { "ec-3", "" },     NULL },
    [AV_SPEEX] = { "Speex", AV_AUDIO, 11, { "", "" },         NULL },
    [AV_G711A] = { "G711A", AV_AUDIO,  7, { "", "" },         NULL },
    [AV_G711U] = { "G711U", AV_AUDIO,  8, { "", "" },         NULL },
};

const struct av_codec_row *av_codec_row(enum av_codec codec)
{
    return &rows[(unsigned)codec < AV_CODECS ? codec : AV_CODEC_NONE];
}

enum av_codec av_codec_of_fourcc(enum av_kind kind, const uint8_t *fourcc)
{
    for (int c = AV_CODEC_NONE + 1; c < AV_CODECS; c++) {
        for (int i = 0; rows[c].kind == kind && i < 2; i++) {
            if (rows[c].fourcc[i][0] && memcmp(rows[c].fourcc[i], fourcc, 4) == 0)
                return (enum av_codec)c;
        }
    }
    return AV_CODEC_NONE;
}

enum av_codec av_codec_of_flv(enum av_kind kind, unsigned id)
{
    for (int c = AV_CODEC_NONE + 1; c < AV_CODECS; c++) {
        if (rows[c].kind == kind && rows[c].flv_id == (int)id)
            return (enum av_codec)c;
    }
    return AV_CODEC_NONE;
}

err_t av_info_parse(struct av_info *info, enum av_codec codec, const uint8_t *config, size_t size)
{
    const struct av_codec_row *row = av_codec_row(codec);
    err_t err;

    *info = (struct av_info){ 0 };
    if (!row->parse)
        return NULL;
    err = row->parse(info, config, size);
    if (err)
        return err_wrap(err, "%s configuration of %zu bytes", row->name, size);
    return NULL;
}
