/* SPDX-License-Identifier: MIT */
/* codec.h - the codec table: every codec has one row, and code asks the row. */
#ifndef AV_CODEC_H
#define AV_CODEC_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum av_kind { AV_VIDEO, AV_AUDIO, AV_DATA, AV_KINDS };

enum av_codec {
    AV_CODEC_NONE, /* not known: passed through */
    AV_H264, AV_H265, AV_AV1, AV_VP9, AV_VP8,
    AV_AAC, AV_MP3, AV_OPUS, AV_FLAC, AV_AC3, AV_EAC3, AV_SPEEX, AV_G711A, AV_G711U,
    AV_CODECS
};

/* What a decoder configuration tells. 0, 0.0 or "" is what it does not tell. */
struct av_info {
    char profile[24];     /* as operators read it: "High", "Main 10", "LC" */
    char level[8];        /* "3.1" */
    uint32_t width, height; /* pixels to show: cropping is taken off */
    double fps;
    uint32_t sample_rate; /* Hz, of what comes out of the decoder */
    uint32_t channels;
    uint32_t nalu_length; /* bytes of the length before each NAL unit: 1, 2 or 4 */
};

struct av_codec_row {
    const char *name; /* in the API and the log */
    enum av_kind kind;
    int8_t flv_id;   /* the codec id of the legacy FLV tag header; -1: has none */
    char fourcc[2][5]; /* of enhanced RTMP; "" where there is none; the first is what we write */
    /* Parse a decoder configuration; NULL: the codec has none, or we do not read it. */
    err_t (*parse)(struct av_info *info, const uint8_t *config, size_t size);
};

/* Never NULL: the row of AV_CODEC_NONE is named "unknown" and has no ids. */
const struct av_codec_row *av_codec_row(enum av_codec codec);
static inline const char *av_codec_name(enum av_codec codec) { return av_codec_row(codec)->name; }

/* AV_CODEC_NONE if no codec of that kind has it. fourcc has 4 bytes. */
enum av_codec av_codec_of_fourcc(enum av_kind kind, const uint8_t *fourcc);
enum av_codec av_codec_of_flv(enum av_kind kind, unsigned id);

/* Parse the configuration of any codec: info is cleared first. Codecs without a parser give no
 * error and tell nothing. An error says that we cannot read it; players still get the bytes. */
err_t av_info_parse(struct av_info *info, enum av_codec codec, const uint8_t *config, size_t size)
    __attribute__((warn_unused_result));

#endif
