/* SPDX-License-Identifier: MIT */
/* mp3.c - MPEG audio frame headers. */
#include "av/mp3.h"

#include "base/rd.h"

#include <stdio.h>

enum { MPEG_25, MPEG_RESERVED, MPEG_2, MPEG_1 }; /* the two bits of the version */

static const uint32_t rates[] = { 44100, 48000, 32000 };
static const uint16_t kbits[2][3][15] = {
    { /* MPEG-1, layers 1 to 3 */
        { 0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448 },
        { 0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384 },
        { 0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320 },
    },
    { /* MPEG-2 and 2.5 */
        { 0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256 },
        { 0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160 },
        { 0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160 },
    },
};

err_t mp3_frame_parse(struct mp3_frame *f, const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    uint32_t h = rd_u32(&r);
    unsigned version = h >> 19 & 3, layer = 4 - (h >> 17 & 3);
    unsigned bit_rate = h >> 12 & 15, rate = h >> 10 & 3, padding = h >> 9 & 1;

    *f = (struct mp3_frame){ 0 };
    if (r.bad)
        return err_new(ERR_CODEC, "an MPEG audio header of %zu bytes", size);
    if (h >> 21 != 0x7ff || version == MPEG_RESERVED || layer == 4 || bit_rate == 15 || rate == 3)
        return err_new(ERR_CODEC, "no MPEG audio header: 0x%08x", h);
    f->layer = (uint8_t)layer;
    f->channels = (h >> 6 & 3) == 3 ? 1 : 2;
    f->rate = rates[rate] >> (version == MPEG_1 ? 0 : version == MPEG_2 ? 1 : 2);
    f->bit_rate = kbits[version != MPEG_1][layer - 1][bit_rate] * 1000u;
    f->samples = layer == 1 ? 384 : layer == 3 && version != MPEG_1 ? 576 : 1152;
    if (f->bit_rate > 0 && layer == 1)
        f->size = (12 * f->bit_rate / f->rate + padding) * 4;
    else if (f->bit_rate > 0)
        f->size = f->samples / 8 * f->bit_rate / f->rate + padding;
    return NULL;
}

/* MP3 has no configuration: the header of each frame is parsed instead. */
static err_t parse(struct av_info *info, const uint8_t *config, size_t size)
{
    struct mp3_frame f;
    err_t err;

    err = mp3_frame_parse(&f, config, size);
    if (err)
        return err;
    snprintf(info->profile, sizeof(info->profile), "Layer %d", f.layer);
    info->sample_rate = f.rate;
    info->channels = f.channels;
    return NULL;
}

static void list_name(char *out, size_t room, const uint8_t *config, size_t size)
{
    (void)config;
    (void)size;
    (void)snprintf(out, room, "mp4a.40.34");
}

static uint32_t samples(const uint8_t *frame, size_t size, uint32_t *rate)
{
    struct mp3_frame f;
    err_t err = mp3_frame_parse(&f, frame, size);

    if (err) {
        err_free(&err);
        return 0;
    }
    *rate = f.rate;
    return f.samples;
}

const struct av_codec_row mp3_codec = {
    .name = "MP3", .kind = AV_AUDIO,
    /* 14: at 8 kHz. Decoders use the rate of the frames, not of the tag */
    .flv = { .ids = { 2, 14 }, .fourcc = { ".mp3" }, .legacy = true, .sound = 0x0f },
    .rtp = { .names = { "MPA" }, .clock = 90000, .fixed = true, .type = 14 },
    .parse = parse, .list_name = list_name, .samples = samples, .frame_config = 4,
};
