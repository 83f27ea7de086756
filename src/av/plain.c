/* SPDX-License-Identifier: MIT */
/* plain.c - codecs that are passed on without parsing: AC-3, G.711, Speex, VP8. */
#include "av/codec.h"

const struct av_codec_row ac3_codec = {
    .name = "AC3", .kind = AV_AUDIO, .flv = { .fourcc = { "ac-3" } },
};
const struct av_codec_row eac3_codec = {
    .name = "EAC3", .kind = AV_AUDIO, .flv = { .fourcc = { "ec-3" } },
};

const struct av_codec_row g711a_codec = {
    .name = "G711A", .kind = AV_AUDIO, .flv = { .ids = { 7 }, .legacy = true, .sound = 0x02 },
    .rtp = { .names = { "PCMA" }, .fixed = true, .type = 8 },
};
const struct av_codec_row g711u_codec = {
    .name = "G711U", .kind = AV_AUDIO, .flv = { .ids = { 8 }, .legacy = true, .sound = 0x02 },
    .rtp = { .names = { "PCMU" }, .fixed = true, .type = 0 },
};

const struct av_codec_row speex_codec = {
    .name = "Speex", .kind = AV_AUDIO,
    /* [FLV] E.4.2.1: always 16 kHz mono, but marked as 5.5 kHz with 16 bits */
    .flv = { .ids = { 11 }, .legacy = true, .sound = 0x02 },
};

const struct av_codec_row vp8_codec = {
    .name = "VP8", .kind = AV_VIDEO, .flv = { .fourcc = { "vp08" } },
};
