/* SPDX-License-Identifier: MIT */
/* speex.c - Speex: passed on, and not looked into. */
#include "av/codec.h"

const struct av_codec_row speex_codec = {
    .name = "Speex", .kind = AV_AUDIO,
    /* [FLV] E.4.2.1: always 16 kHz, mono, and marked as 5.5 kHz of 16 bits */
    .flv = { .ids = { 11 }, .legacy = true, .sound = 0x02 },
};
