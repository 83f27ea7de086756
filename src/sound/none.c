/* SPDX-License-Identifier: MIT */
/* none.c - a program that was built without libraries for sound: in place of those in fit/. */
#include "sound/decoder.h"
#include "sound/encoder.h"
#include "sound/lib.h"

#include <stddef.h>

bool sound_lib_load(void)
{
    return false;
}

bool sound_lib_ready(void)
{
    return false;
}

const char *sound_lib_lacks(void)
{
    return "this program was built without libraries for sound: apt-get install libavcodec-dev "
           "libswresample-dev libopus-dev && ./configure && make";
}

const char *sound_lib_text(void)
{
    return NULL;
}

struct sound_decoder *sound_decoder_new(enum av_codec codec, const uint8_t *config, size_t size)
{
    (void)codec;
    (void)config;
    (void)size;
    return NULL;
}

void sound_decoder_free(struct sound_decoder *d)
{
    (void)d;
}

int sound_decode(struct sound_decoder *d, const uint8_t *data, size_t size, const float **out)
{
    (void)d;
    (void)data;
    (void)size;
    (void)out;
    return -1;
}

struct sound_encoder *sound_encoder_new(enum av_codec codec, int bitrate)
{
    (void)codec;
    (void)bitrate;
    return NULL;
}

void sound_encoder_free(struct sound_encoder *e)
{
    (void)e;
}

unsigned sound_encoder_frame(const struct sound_encoder *e)
{
    (void)e;
    return SOUND_FRAME_MAX;
}

size_t sound_encode(struct sound_encoder *e, const float *samples, int64_t at,
                    uint8_t out[SOUND_MADE_MAX], int64_t *begin)
{
    (void)e;
    (void)samples;
    (void)at;
    (void)out;
    *begin = 0;
    return 0;
}
