/* SPDX-License-Identifier: MIT */
/* decode_av.c - decodes AAC and MP3 with libavcodec and libswresample. */
#include "audio/fit/fit.h"

#include "base/must.h"
#include "audio/decoder.h"

enum { CHANNELS_MAX = 8, FRAMES_MAX = 8, SAMPLES_MAX = 4096, RATE_MIN = 7000, RATE_MAX = 96000 };

struct fit_av {
    AVCodecContext *codec;
    AVPacket *packet;
    AVFrame *frame;
    SwrContext *resample; /* for frames with this format: */
    int rate, format, channels;
    uint64_t layout;
    uint8_t in[AUDIO_CODED_MAX + AV_INPUT_BUFFER_PADDING_SIZE];
};

static bool configure(AVCodecContext *codec, const uint8_t *config, size_t size)
{
    if (size == 0)
        return true;
    codec->extradata = fit()->av_mallocz(size + AV_INPUT_BUFFER_PADDING_SIZE);
    if (!codec->extradata)
        return false;
    memcpy(codec->extradata, config, size);
    codec->extradata_size = (int)size;
    return true;
}

static bool open_codec(struct fit_av *d, enum AVCodecID id, const uint8_t *config, size_t size)
{
    const AVCodec *decoder = fit()->avcodec_find_decoder(id);

    d->codec = decoder ? fit()->avcodec_alloc_context3(decoder) : NULL;
    d->packet = fit()->av_packet_alloc();
    d->frame = fit()->av_frame_alloc();
    if (!d->codec || !d->packet || !d->frame || !configure(d->codec, config, size))
        return false;
    d->codec->thread_count = 1;
    return fit()->avcodec_open2(d->codec, decoder, NULL) == 0;
}

struct fit_av *fit_av_new(enum AVCodecID id, const uint8_t *config, size_t size)
{
    struct fit_av *d;

    if (!fit() || size > AUDIO_CONFIG_MAX)
        return NULL;
    d = must(calloc(1, sizeof(*d)));
    if (open_codec(d, id, config, size))
        return d;
    fit_av_free(d);
    return NULL;
}

void fit_av_free(struct fit_av *d)
{
    if (!d)
        return;
    fit()->swr_free(&d->resample);
    fit()->av_frame_free(&d->frame);
    fit()->av_packet_free(&d->packet);
    fit()->avcodec_free_context(&d->codec);
    free(d);
}

/* ---- resampling to 48 kHz stereo */

static bool is_plausible(const AVFrame *f)
{
    return f->nb_samples > 0 && f->nb_samples <= SAMPLES_MAX && f->sample_rate >= RATE_MIN &&
           f->sample_rate <= RATE_MAX && f->ch_layout.nb_channels > 0 &&
           f->ch_layout.nb_channels <= CHANNELS_MAX;
}

static uint64_t layout_of(const AVFrame *f)
{
    return f->ch_layout.order == AV_CHANNEL_ORDER_NATIVE ? f->ch_layout.u.mask : 0;
}

static bool is_same(const struct fit_av *d, const AVFrame *f)
{
    return d->resample && d->rate == f->sample_rate && d->format == f->format &&
           d->channels == f->ch_layout.nb_channels && d->layout == layout_of(f);
}

static bool init_resample(struct fit_av *d, const AVFrame *f, AVChannelLayout from)
{
    AVChannelLayout to;
    int bad;

    fit()->av_channel_layout_default(&to, AUDIO_CHANNELS);
    fit()->swr_free(&d->resample);
    bad = fit()->swr_alloc_set_opts2(&d->resample, &to, AV_SAMPLE_FMT_FLT, AUDIO_RATE, &from,
                                     f->format, f->sample_rate, 0, NULL);
    return bad == 0 && fit()->swr_init(d->resample) == 0;
}

/* If the channel layout cannot be mixed, uses the default layout for the number of channels. */
static bool open_resample(struct fit_av *d, const AVFrame *f)
{
    AVChannelLayout usual;
    bool ok;

    fit()->av_channel_layout_default(&usual, f->ch_layout.nb_channels);
    ok = layout_of(f) != 0 && init_resample(d, f, f->ch_layout);
    ok = ok || init_resample(d, f, usual);
    if (!ok)
        fit()->swr_free(&d->resample);
    d->rate = f->sample_rate;
    d->format = f->format;
    d->channels = f->ch_layout.nb_channels;
    d->layout = layout_of(f);
    return ok;
}

static int resample(struct fit_av *d, const AVFrame *f, float *out, int room)
{
    uint8_t *to = (uint8_t *)out;

    if (!is_plausible(f) || (!is_same(d, f) && !open_resample(d, f)))
        return -1;
    return fit()->swr_convert(d->resample, &to, room, (const uint8_t **)f->extended_data,
                              f->nb_samples);
}

/* ---- frames */

/* A packet may contain several frames. */
static int take_frames(struct fit_av *d, float *out, int room)
{
    int n = 0;

    for (int i = 0; i < FRAMES_MAX; i++) {
        int got;

        if (fit()->avcodec_receive_frame(d->codec, d->frame) != 0)
            break;
        got = resample(d, d->frame, out + n * AUDIO_CHANNELS, room - n);
        fit()->av_frame_unref(d->frame);
        if (got < 0)
            return -1;
        n += got;
    }
    return n;
}

int fit_av_decode(struct fit_av *d, const uint8_t *data, size_t size, float *out, int room)
{
    int bad;

    memcpy(d->in, data, size);
    memset(d->in + size, 0, AV_INPUT_BUFFER_PADDING_SIZE);
    d->packet->data = d->in;
    d->packet->size = (int)size;
    bad = fit()->avcodec_send_packet(d->codec, d->packet);
    fit()->av_packet_unref(d->packet);
    return bad ? -1 : take_frames(d, out, room);
}
