/* SPDX-License-Identifier: MIT */
/* opus.c - parses and builds Opus decoder configurations, the ID header of RFC 7845 section 5.1,
 * and computes the duration of packets. */
#include "av/opus.h"

#include "base/rd.h"

#include <stdio.h>
#include <string.h>

enum { RATE = 48000 }; /* Hz, for any input rate */

static err_t parse(struct av_info *info, const uint8_t *config, size_t size)
{
    struct rd r = rd_init(config, size);
    const uint8_t *magic = rd_take(&r, 8);
    uint8_t version = rd_u8(&r), channels = rd_u8(&r), mapping;

    (void)rd_take(&r, 2 + 4 + 2); /* pre-skip, input rate (for information only), gain */
    mapping = rd_u8(&r);
    if (mapping != 0)
        (void)rd_take(&r, 2 + (size_t)channels); /* RFC 7845 5.1.1 */
    if (r.bad)
        return err_new(ERR_CODEC, "OpusHead ends too early");
    if (memcmp(magic, "OpusHead", 8) != 0 || version >> 4 != 0)
        return err_new(ERR_CODEC, "no OpusHead");
    if (channels == 0 || (mapping == 0 && channels > 2))
        return err_new(ERR_CODEC, "OpusHead with %d channels, mapping %d", channels, mapping);
    info->sample_rate = RATE;
    info->channels = channels;
    return NULL;
}

/* Samples at 48 kHz: RFC 6716 3.1, the duration of a frame, times 3.2, the number of frames. */
static uint32_t samples(const uint8_t *frame, size_t size, uint32_t *rate)
{
    static const uint16_t silk[] = { 480, 960, 1920, 2880 }, celt[] = { 120, 240, 480, 960 };
    unsigned config, one, frames;

    *rate = RATE;
    if (size == 0)
        return 0;
    config = frame[0] >> 3;
    if (config < 12)
        one = silk[config & 3];
    else if (config < 16)
        one = config & 1 ? 960 : 480;
    else
        one = celt[config & 3];
    switch (frame[0] & 3) {
    case 0:
        frames = 1;
        break;
    case 3:
        frames = size > 1 ? frame[1] & 0x3f : 0;
        break;
    default:
        frames = 2;
    }
    return one * frames <= 5760 ? one * frames : 0; /* at most 120 ms */
}

/* The pre-skip is 312 samples, the usual value of encoders with frames of 20 ms. */
void opus_head_build(uint8_t out[OPUS_HEAD], unsigned channels)
{
    memcpy(out, "OpusHead\1\2\x38\1\x80\xbb\0\0\0\0\0", OPUS_HEAD);
    out[9] = (uint8_t)channels;
}

static void list_name(char *out, size_t room, const uint8_t *config, size_t size)
{
    (void)config;
    (void)size;
    (void)snprintf(out, room, "opus");
}

const struct av_codec_row opus_codec = {
    .name = "Opus", .kind = AV_AUDIO, .flv = { .ids = { 13 }, .fourcc = { "Opus" } },
    .rtp = { .names = { "opus" }, .clock = RATE, .channels = 2 },
    .parse = parse, .list_name = list_name, .samples = samples,
};
