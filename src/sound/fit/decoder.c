/* SPDX-License-Identifier: MIT */
/* decoder.c - frames of sound to samples. */
#include "sound/decoder.h"

#include "base/must.h"
#include "sound/fit/fit.h"

struct sound_decoder {
    struct fit_av *av;
    OpusDecoder *opus; /* or that one */
    float out[SOUND_DECODED_MAX * SOUND_CHANNELS];
};

struct sound_decoder *sound_decoder_new(enum av_codec codec, const uint8_t *config, size_t size)
{
    struct sound_decoder *d;
    int bad;

    if (!fit() || (codec != AV_AAC && codec != AV_MP3 && codec != AV_OPUS))
        return NULL;
    d = must(calloc(1, sizeof(*d)));
    if (codec == AV_OPUS)
        d->opus = fit()->opus_decoder_create(SOUND_RATE, SOUND_CHANNELS, &bad);
    else if (codec == AV_AAC)
        d->av = fit_av_new(AV_CODEC_ID_AAC, config, size);
    else
        d->av = fit_av_new(AV_CODEC_ID_MP3, NULL, 0);
    if (d->av || d->opus)
        return d;
    free(d);
    return NULL;
}

void sound_decoder_free(struct sound_decoder *d)
{
    if (!d)
        return;
    fit_av_free(d->av);
    if (d->opus)
        fit()->opus_decoder_destroy(d->opus);
    free(d);
}

/* Garbage decodes to any number, and to none. */
static void bound(float *v, int n)
{
    for (int i = 0; i < n; i++) {
        v[i] = v[i] > -1.0f ? v[i] : -1.0f;
        v[i] = v[i] < 1.0f ? v[i] : 1.0f;
    }
}

int sound_decode(struct sound_decoder *d, const uint8_t *data, size_t size, const float **out)
{
    int n;

    if (size == 0 || size > SOUND_CODED_MAX)
        return -1;
    if (d->opus)
        n = fit()->opus_decode_float(d->opus, data, (opus_int32)size, d->out, SOUND_DECODED_MAX, 0);
    else
        n = fit_av_decode(d->av, data, size, d->out, SOUND_DECODED_MAX);
    if (n < 0)
        return -1;
    bound(d->out, n * SOUND_CHANNELS);
    *out = d->out;
    return n;
}
