/* SPDX-License-Identifier: MIT */
/* convert.c - converts audio from one codec to another. */
#include "audio/convert.h"

#include "base/must.h"
#include "audio/timeline.h"

const uint8_t audio_aac_config[AUDIO_AAC_CONFIG] = { 0x11, 0x90 };

struct audio_convert {
    enum av_codec from, to;
    int bitrate;
    struct audio_decoder *decoder;
    struct audio_encoder *encoder;
    bool tried;                /* opening the encoder failed */
    uint8_t config[AUDIO_CONFIG_MAX];
    size_t config_size;
    struct audio_timeline line;
    struct audio_counts counts;
    /* decoded samples that are not encoded yet; silence comes first */
    unsigned silence, left;
    const float *samples;
    /* the growing frame */
    float frame[AUDIO_FRAME_MAX * AUDIO_CHANNELS];
    unsigned filled;
    int64_t begun;             /* number of its first sample */
    uint8_t made[AUDIO_MADE_MAX];
};

struct audio_convert *audio_convert_new(enum av_codec to, int bitrate)
{
    struct audio_convert *c = must(calloc(1, sizeof(*c)));

    c->to = to;
    c->bitrate = bitrate;
    return c;
}

void audio_convert_free(struct audio_convert *c)
{
    if (!c)
        return;
    audio_decoder_free(c->decoder);
    audio_encoder_free(c->encoder);
    free(c);
}

const struct audio_counts *audio_convert_counts(const struct audio_convert *c)
{
    return &c->counts;
}

static void close_decoder(struct audio_convert *c)
{
    audio_decoder_free(c->decoder);
    c->decoder = NULL;
    c->samples = NULL;
    c->left = 0;
}

/* ---- input */

static void take_config(struct audio_convert *c, const struct audio_in *in)
{
    if (in->codec == c->from && in->size == c->config_size &&
        memcmp(in->data, c->config, in->size) == 0)
        return;
    close_decoder(c);
    c->from = in->codec;
    c->config_size = in->size <= sizeof(c->config) ? in->size : 0;
    memcpy(c->config, in->data, c->config_size);
}

static bool needs_config(enum av_codec codec)
{
    return codec == AV_AAC;
}

/* Returns true for a frame before a (valid) codec configuration. */
static bool is_early(const struct audio_convert *c, const struct audio_in *in)
{
    return needs_config(in->codec) && (c->from != in->codec || c->config_size == 0);
}

bool audio_convert_opens(const struct audio_convert *c, const struct audio_in *in)
{
    if (in->config || is_early(c, in))
        return false;
    return !c->decoder || in->codec != c->from || (!c->encoder && !c->tried);
}

static bool open_both(struct audio_convert *c, const struct audio_in *in)
{
    if (c->from != in->codec) {
        close_decoder(c);
        c->from = in->codec;
        c->config_size = 0;
    }
    if (!c->decoder)
        c->decoder = audio_decoder_new(c->from, c->config, c->config_size);
    if (!c->encoder && !c->tried)
        c->encoder = audio_encoder_new(c->to, c->bitrate);
    c->tried = true;
    return c->decoder && c->encoder;
}

static void keep_time(struct audio_convert *c, const struct audio_in *in, unsigned samples)
{
    struct audio_timeline_step step = audio_timeline_put(&c->line, in->time, samples);

    c->silence = step.silence;
    c->samples += step.skip * AUDIO_CHANNELS;
    c->left = samples - step.skip;
    c->counts.silence += step.silence;
    c->counts.skipped += step.skip;
    c->counts.moves += step.moved;
}

void audio_convert_put(struct audio_convert *c, const struct audio_in *in)
{
    int samples;

    if (in->config) {
        take_config(c, in);
        return;
    }
    c->counts.in++;
    if (is_early(c, in)) {
        c->counts.early++;
        return;
    }
    samples = open_both(c, in) ? audio_decode(c->decoder, in->data, in->size, &c->samples) : -1;
    if (samples < 0)
        c->counts.bad++;
    else if (samples > 0)
        keep_time(c, in, (unsigned)samples);
}

/* ---- output */

static void fill(struct audio_convert *c, unsigned n, const float *from)
{
    float *to = c->frame + c->filled * AUDIO_CHANNELS;
    size_t size = n * AUDIO_CHANNELS * sizeof(*to);

    if (from)
        memcpy(to, from, size);
    else
        memset(to, 0, size);
    c->filled += n;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns false if there are not enough samples for a frame. */
static bool fill_frame(struct audio_convert *c)
{
    unsigned full = audio_encoder_frame(c->encoder), n = least(full - c->filled, c->silence);

    fill(c, n, NULL);
    c->silence -= n;
    n = least(full - c->filled, c->left);
    if (n > 0)
        fill(c, n, c->samples);
    c->samples = n > 0 ? c->samples + n * AUDIO_CHANNELS : c->samples;
    c->left -= n;
    return c->filled == full;
}

bool audio_convert_step(struct audio_convert *c, struct audio_out *out)
{
    int64_t begin;

    *out = (struct audio_out){ .data = c->made };
    if (!c->encoder || !fill_frame(c))
        return false;
    out->size = audio_encode(c->encoder, c->frame, c->begun, c->made, &begin);
    if (out->size > 0)
        out->time = audio_timeline_time(&c->line, begin);
    c->counts.out += out->size > 0;
    c->begun += c->filled;
    c->filled = 0;
    return true;
}
