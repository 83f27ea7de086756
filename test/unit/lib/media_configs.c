/* SPDX-License-Identifier: MIT */
/* media_configs.c - decoder configurations of real encoders, for tests of muxers. */
#include "media_configs.h"

struct frame media_config(enum av_codec codec, const uint8_t *data, size_t size)
{
    return (struct frame){ .kind = av_codec_row(codec)->kind, .codec = codec, .config = true,
                           .data = data, .size = size };
}

struct frame media_frame(enum av_codec codec, bool key, int64_t dts,
                                       const uint8_t *data, size_t size)
{
    return (struct frame){ .kind = av_codec_row(codec)->kind, .codec = codec, .key = key,
                           .dts = dts, .pts = dts, .data = data, .size = size };
}
