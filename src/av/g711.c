/* SPDX-License-Identifier: MIT */
/* g711.c - telephone sound by its two laws: passed on, and not looked into. */
#include "av/codec.h"

const struct av_codec_row g711a_codec = {
    .name = "G711A", .kind = AV_AUDIO, .flv = { .ids = { 7 }, .legacy = true, .sound = 0x02 },
    .rtp = { .names = { "PCMA" }, .fixed = true, .type = 8 },
};
const struct av_codec_row g711u_codec = {
    .name = "G711U", .kind = AV_AUDIO, .flv = { .ids = { 8 }, .legacy = true, .sound = 0x02 },
    .rtp = { .names = { "PCMU" }, .fixed = true, .type = 0 },
};
