/* SPDX-License-Identifier: MIT */
/* audio_clock.c - the time of audio frames by the count of their samples. */
#include "format/audio_clock.h"

#include "av/mp3.h"
#include "av/packet.h"

/* RFC 6716 3.1: by the configuration, in samples at 48 kHz; and 3.2: how many frames. */
static uint32_t opus_samples(const uint8_t *data, size_t size)
{
    static const uint16_t silk[] = { 480, 960, 1920, 2880 }, celt[] = { 120, 240, 480, 960 };
    unsigned config, one, frames;

    if (size == 0)
        return 0;
    config = data[0] >> 3;
    if (config < 12)
        one = silk[config & 3];
    else if (config < 16)
        one = config & 1 ? 960 : 480;
    else
        one = celt[config & 3];
    switch (data[0] & 3) {
    case 0:
        frames = 1;
        break;
    case 3:
        frames = size > 1 ? data[1] & 0x3f : 0;
        break;
    default:
        frames = 2;
    }
    return one * frames <= 5760 ? one * frames : 0; /* at most 120 ms */
}

uint32_t audio_samples(enum av_codec codec, const uint8_t *data, size_t size)
{
    struct mp3_frame mp3;
    err_t err;

    switch (codec) {
    case AV_AAC:
        return 1024;
    case AV_OPUS:
        return opus_samples(data, size);
    case AV_MP3:
        err = mp3_frame_parse(&mp3, data, size);
        if (!err)
            return mp3.samples;
        err_free(&err);
        return 0;
    default:
        return 0;
    }
}

int64_t audio_clock_next(struct audio_clock *c, int64_t dts, uint32_t samples)
{
    int64_t stamped = dts * (int64_t)c->rate / AV_CLOCK, at = c->next, late = stamped - c->next;
    int64_t jump = c->rate / 10, jitter = c->rate / 50, step = samples / 32;

    if (!c->started || samples == 0 || late > jump || late < -jump)
        at = stamped;
    else if (late > jitter)
        at += step;
    else if (late < -jitter)
        at -= step;
    if (at < 0)
        at = 0;
    c->started = true;
    c->next = at + samples;
    return at;
}
