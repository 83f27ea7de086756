/* SPDX-License-Identifier: MIT */
/* codec.h - the codec table: every codec has one row, and code asks the row. */
#ifndef AV_CODEC_H
#define AV_CODEC_H

#include <stdbool.h>
#include <stdint.h>

enum av_codec {
    AV_CODEC_NONE, /* not known: passed through */
    AV_H264, AV_H265, AV_AV1, AV_VP9, AV_VP8,
    AV_AAC, AV_MP3, AV_OPUS, AV_FLAC, AV_AC3, AV_EAC3, AV_SPEEX, AV_G711A, AV_G711U,
    AV_CODECS
};

#endif
