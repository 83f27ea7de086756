/* SPDX-License-Identifier: MIT */
/* decoder.c - decodes audio frames to samples. */
#include "audio/decoder.h"

#include "base/must.h"
#include "audio/fit/fit.h"

struct audio_decoder {
    struct fit_av *av;
    OpusDecoder *opus; /* or this one */
    float out[AUDIO_DECODED_MAX * AUDIO_CHANNELS];
};

struct audio_decoder *audio_decoder_new(enum av_codec codec, const uint8_t *config, size_t size)
{
    struct audio_decoder *d;
    int bad;

    if (!fit() || (codec != AV_AAC && codec != AV_MP3 && codec != AV_OPUS))
        return NULL;
    d = must(calloc(1, sizeof(*d)));
    if (codec == AV_OPUS)
        d->opus = fit()->opus_decoder_create(AUDIO_RATE, AUDIO_CHANNELS, &bad);
    else if (codec == AV_AAC)
        d->av = fit_av_new(AV_CODEC_ID_AAC, config, size);
    else
        d->av = fit_av_new(AV_CODEC_ID_MP3, NULL, 0);
    if (d->av || d->opus)
        return d;
    free(d);
    return NULL;
}

void audio_decoder_free(struct audio_decoder *d)
{
    if (!d)
        return;
    fit_av_free(d->av);
    if (d->opus)
        fit()->opus_decoder_destroy(d->opus);
    free(d);
}

/* Clamps samples, because invalid frames may decode to any number or NaN. */
static void bound(float *v, int n)
{
    for (int i = 0; i < n; i++) {
        v[i] = v[i] > -1.0f ? v[i] : -1.0f;
        v[i] = v[i] < 1.0f ? v[i] : 1.0f;
    }
}

int audio_decode(struct audio_decoder *d, const uint8_t *data, size_t size, const float **out)
{
    int n;

    if (size == 0 || size > AUDIO_CODED_MAX)
        return -1;
    if (d->opus)
        n = fit()->opus_decode_float(d->opus, data, (opus_int32)size, d->out, AUDIO_DECODED_MAX, 0);
    else
        n = fit_av_decode(d->av, data, size, d->out, AUDIO_DECODED_MAX);
    if (n < 0)
        return -1;
    bound(d->out, n * AUDIO_CHANNELS);
    *out = d->out;
    return n;
}
