/* SPDX-License-Identifier: MIT */
/* encoder.c - encodes Opus with libopus, and AAC with libavcodec. */
#include "audio/encoder.h"

#include "base/must.h"
#include "audio/decoder.h"
#include "audio/fit/fit.h"

enum { OPUS_FRAME = AUDIO_RATE / 50, OPUS_COMPLEXITY = 5, AAC_FRAME = 1024 };

struct audio_encoder {
    OpusEncoder *opus;
    opus_int32 ahead;      /* lookahead in samples */
    AVCodecContext *aac;   /* or this one */
    AVFrame *frame;
    AVPacket *packet;
    float planes[AUDIO_CHANNELS][AAC_FRAME];
};

/* ---- begin and end */

static bool open_opus(struct audio_encoder *e, int bitrate)
{
    int bad;

    e->opus = fit()->opus_encoder_create(AUDIO_RATE, AUDIO_CHANNELS, OPUS_APPLICATION_AUDIO, &bad);
    return e->opus && fit()->opus_encoder_ctl(e->opus, OPUS_SET_BITRATE(bitrate)) == OPUS_OK &&
           fit()->opus_encoder_ctl(e->opus, OPUS_SET_COMPLEXITY(OPUS_COMPLEXITY)) == OPUS_OK &&
           fit()->opus_encoder_ctl(e->opus, OPUS_GET_LOOKAHEAD(&e->ahead)) == OPUS_OK;
}

static bool open_codec(struct audio_encoder *e, int bitrate)
{
    const AVCodec *codec = fit()->avcodec_find_encoder(AV_CODEC_ID_AAC);

    e->aac = codec ? fit()->avcodec_alloc_context3(codec) : NULL;
    if (!e->aac)
        return false;
    e->aac->sample_rate = AUDIO_RATE;
    e->aac->sample_fmt = AV_SAMPLE_FMT_FLTP;
    e->aac->time_base = (AVRational){ 1, AUDIO_RATE };
    e->aac->bit_rate = bitrate;
    e->aac->thread_count = 1;
    e->aac->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
    fit()->av_channel_layout_default(&e->aac->ch_layout, AUDIO_CHANNELS);
    (void)fit()->av_opt_set(e->aac->priv_data, "aac_coder", "fast", 0);
    return fit()->avcodec_open2(e->aac, codec, NULL) == 0 && e->aac->frame_size == AAC_FRAME;
}

static bool open_aac(struct audio_encoder *e, int bitrate)
{
    e->frame = fit()->av_frame_alloc();
    e->packet = fit()->av_packet_alloc();
    return e->frame && e->packet && open_codec(e, bitrate);
}

struct audio_encoder *audio_encoder_new(enum av_codec codec, int bitrate)
{
    struct audio_encoder *e;
    bool ok;

    if (!fit() || (codec != AV_OPUS && codec != AV_AAC))
        return NULL;
    e = must(calloc(1, sizeof(*e)));
    ok = codec == AV_OPUS ? open_opus(e, bitrate) : open_aac(e, bitrate);
    if (ok)
        return e;
    audio_encoder_free(e);
    return NULL;
}

void audio_encoder_free(struct audio_encoder *e)
{
    if (!e)
        return;
    if (e->opus)
        fit()->opus_encoder_destroy(e->opus);
    fit()->av_frame_free(&e->frame);
    fit()->av_packet_free(&e->packet);
    fit()->avcodec_free_context(&e->aac);
    free(e);
}

unsigned audio_encoder_frame(const struct audio_encoder *e)
{
    return e->opus ? OPUS_FRAME : AAC_FRAME;
}

/* ---- frames */

static void split(struct audio_encoder *e, const float *samples)
{
    for (int i = 0; i < AAC_FRAME; i++) {
        for (int k = 0; k < AUDIO_CHANNELS; k++)
            e->planes[k][i] = samples[i * AUDIO_CHANNELS + k];
    }
}

/* The frame points to memory of the encoder, so the library copies it. */
static bool send_aac(struct audio_encoder *e, int64_t at)
{
    AVFrame *f = e->frame;
    bool sent;

    f->nb_samples = AAC_FRAME;
    f->format = AV_SAMPLE_FMT_FLTP;
    f->sample_rate = AUDIO_RATE;
    f->pts = at;
    fit()->av_channel_layout_default(&f->ch_layout, AUDIO_CHANNELS);
    for (int i = 0; i < AUDIO_CHANNELS; i++)
        f->data[i] = (uint8_t *)e->planes[i];
    f->linesize[0] = sizeof(e->planes[0]);
    f->extended_data = f->data;
    sent = fit()->avcodec_send_frame(e->aac, f) == 0;
    fit()->av_frame_unref(f);
    return sent;
}

static size_t encode_aac(struct audio_encoder *e, const float *samples, int64_t at,
                         uint8_t out[AUDIO_MADE_MAX], int64_t *begin)
{
    AVPacket *p = e->packet;
    size_t size;

    split(e, samples);
    if (!send_aac(e, at) || fit()->avcodec_receive_packet(e->aac, p) != 0)
        return 0;
    size = p->size > 0 && p->size <= AUDIO_MADE_MAX ? (size_t)p->size : 0;
    memcpy(out, p->data, size);
    *begin = p->pts;
    fit()->av_packet_unref(p);
    return size;
}

size_t audio_encode(struct audio_encoder *e, const float *samples, int64_t at,
                    uint8_t out[AUDIO_MADE_MAX], int64_t *begin)
{
    opus_int32 size;

    *begin = at - e->ahead;
    if (!e->opus)
        return encode_aac(e, samples, at, out, begin);
    size = fit()->opus_encode_float(e->opus, samples, OPUS_FRAME, out, AUDIO_MADE_MAX);
    return size > 0 ? (size_t)size : 0;
}
