/* SPDX-License-Identifier: MIT */
/* vp8.c - VP8: passed on, and not looked into. */
#include "av/codec.h"

const struct av_codec_row vp8_codec = {
    .name = "VP8", .kind = AV_VIDEO, .flv = { .fourcc = { "vp08" } },
};
