/* SPDX-License-Identifier: MIT */
/* none.c - replaces fit/ in programs built without the audio libraries. */
#include "audio/decoder.h"
#include "audio/encoder.h"
#include "audio/lib.h"

#include <stddef.h>

bool audio_lib_load(void)
{
    return false;
}

bool audio_lib_ready(void)
{
    return false;
}

const char *audio_lib_lacks(void)
{
    return "this program was built without audio libraries: apt-get install libavcodec-dev "
           "libswresample-dev libopus-dev && ./configure && make";
}

const char *audio_lib_text(void)
{
    return NULL;
}

struct audio_decoder *audio_decoder_new(enum av_codec codec, const uint8_t *config, size_t size)
{
    (void)codec;
    (void)config;
    (void)size;
    return NULL;
}

void audio_decoder_free(struct audio_decoder *d)
{
    (void)d;
}

int audio_decode(struct audio_decoder *d, const uint8_t *data, size_t size, const float **out)
{
    (void)d;
    (void)data;
    (void)size;
    (void)out;
    return -1;
}

struct audio_encoder *audio_encoder_new(enum av_codec codec, int bitrate)
{
    (void)codec;
    (void)bitrate;
    return NULL;
}

void audio_encoder_free(struct audio_encoder *e)
{
    (void)e;
}

unsigned audio_encoder_frame(const struct audio_encoder *e)
{
    (void)e;
    return AUDIO_FRAME_MAX;
}

size_t audio_encode(struct audio_encoder *e, const float *samples, int64_t at,
                    uint8_t out[AUDIO_MADE_MAX], int64_t *begin)
{
    (void)e;
    (void)samples;
    (void)at;
    (void)out;
    *begin = 0;
    return 0;
}
