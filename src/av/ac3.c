/* SPDX-License-Identifier: MIT */
/* ac3.c - Dolby's AC-3 and E-AC-3: passed on, and not looked into. */
#include "av/codec.h"

const struct av_codec_row ac3_codec = {
    .name = "AC3", .kind = AV_AUDIO, .flv = { .fourcc = { "ac-3" } },
};
const struct av_codec_row eac3_codec = {
    .name = "EAC3", .kind = AV_AUDIO, .flv = { .fourcc = { "ec-3" } },
};
