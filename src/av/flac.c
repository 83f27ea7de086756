/* SPDX-License-Identifier: MIT */
/* flac.c - parses FLAC decoder configurations: "fLaC" and metadata blocks, STREAMINFO first; [FLAC]
 * RFC 9639 section 8. */
#include "av/codec.h"

#include <stdio.h>
#include <string.h>

enum { MARK = 4, BLOCK_HEADER = 4, STREAMINFO = 34 };

/* 20 bits of rate from byte 10 on, then 3 of channels. */
static err_t parse(struct av_info *info, const uint8_t *p, size_t size)
{
    if (size < MARK + BLOCK_HEADER + STREAMINFO || memcmp(p, "fLaC", MARK) != 0 ||
        (p[MARK] & 0x7f) != 0)
        return err_new(ERR_CODEC, "no FLAC STREAMINFO in %zu bytes", size);
    p += MARK + BLOCK_HEADER;
    info->sample_rate = (uint32_t)p[10] << 12 | (uint32_t)p[11] << 4 | p[12] >> 4;
    info->channels = (p[12] >> 1 & 7) + 1u;
    return info->sample_rate ? NULL : err_new(ERR_CODEC, "FLAC without a sample rate");
}

static void list_name(char *out, size_t room, const uint8_t *config, size_t size)
{
    (void)config;
    (void)size;
    (void)snprintf(out, room, "fLaC");
}

const struct av_codec_row flac_codec = {
    .name = "FLAC", .kind = AV_AUDIO, .flv = { .fourcc = { "fLaC" } },
    .parse = parse, .list_name = list_name,
};
