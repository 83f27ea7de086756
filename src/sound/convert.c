/* SPDX-License-Identifier: MIT */
/* convert.c - sound of one codec in, of another one out. */
#include "sound/convert.h"

#include "base/must.h"
#include "sound/line.h"

const uint8_t sound_aac_config[SOUND_AAC_CONFIG] = { 0x11, 0x90 };

struct sound_convert {
    enum av_codec from, to;
    int bitrate;
    struct sound_decoder *decoder;
    struct sound_encoder *encoder;
    bool tried;                /* there is no encoder */
    uint8_t config[SOUND_CONFIG_MAX];
    size_t config_size;
    struct sound_line line;
    struct sound_counts counts;
    /* what was decoded and is not encoded yet: silence first */
    unsigned silence, left;
    const float *samples;
    /* a frame that is not full yet */
    float frame[SOUND_FRAME_MAX * SOUND_CHANNELS];
    unsigned filled;
    int64_t begun;             /* the number of its first sample */
    uint8_t made[SOUND_MADE_MAX];
};

struct sound_convert *sound_convert_new(enum av_codec to, int bitrate)
{
    struct sound_convert *c = must(calloc(1, sizeof(*c)));

    c->to = to;
    c->bitrate = bitrate;
    return c;
}

void sound_convert_free(struct sound_convert *c)
{
    if (!c)
        return;
    sound_decoder_free(c->decoder);
    sound_encoder_free(c->encoder);
    free(c);
}

const struct sound_counts *sound_convert_counts(const struct sound_convert *c)
{
    return &c->counts;
}

static void close_decoder(struct sound_convert *c)
{
    sound_decoder_free(c->decoder);
    c->decoder = NULL;
    c->samples = NULL;
    c->left = 0;
}

/* ---- what comes */

static void take_config(struct sound_convert *c, const struct sound_in *in)
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

/* It comes before its configuration: perhaps that could not be read. */
static bool is_early(const struct sound_convert *c, const struct sound_in *in)
{
    return needs_config(in->codec) && (c->from != in->codec || c->config_size == 0);
}

bool sound_convert_opens(const struct sound_convert *c, const struct sound_in *in)
{
    if (in->config || is_early(c, in))
        return false;
    return !c->decoder || in->codec != c->from || (!c->encoder && !c->tried);
}

static bool open_both(struct sound_convert *c, const struct sound_in *in)
{
    if (c->from != in->codec) {
        close_decoder(c);
        c->from = in->codec;
        c->config_size = 0;
    }
    if (!c->decoder)
        c->decoder = sound_decoder_new(c->from, c->config, c->config_size);
    if (!c->encoder && !c->tried)
        c->encoder = sound_encoder_new(c->to, c->bitrate);
    c->tried = true;
    return c->decoder && c->encoder;
}

static void keep_time(struct sound_convert *c, const struct sound_in *in, unsigned samples)
{
    struct sound_step step = sound_line_put(&c->line, in->time, samples);

    c->silence = step.silence;
    c->samples += step.skip * SOUND_CHANNELS;
    c->left = samples - step.skip;
    c->counts.silence += step.silence;
    c->counts.skipped += step.skip;
    c->counts.moves += step.moved;
}

void sound_convert_put(struct sound_convert *c, const struct sound_in *in)
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
    samples = open_both(c, in) ? sound_decode(c->decoder, in->data, in->size, &c->samples) : -1;
    if (samples < 0)
        c->counts.bad++;
    else if (samples > 0)
        keep_time(c, in, (unsigned)samples);
}

/* ---- what goes */

static void fill(struct sound_convert *c, unsigned n, const float *from)
{
    float *to = c->frame + c->filled * SOUND_CHANNELS;
    size_t size = n * SOUND_CHANNELS * sizeof(*to);

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

/* False: there is not enough for a frame. */
static bool fill_frame(struct sound_convert *c)
{
    unsigned full = sound_encoder_frame(c->encoder), n = least(full - c->filled, c->silence);

    fill(c, n, NULL);
    c->silence -= n;
    n = least(full - c->filled, c->left);
    if (n > 0)
        fill(c, n, c->samples);
    c->samples = n > 0 ? c->samples + n * SOUND_CHANNELS : c->samples;
    c->left -= n;
    return c->filled == full;
}

bool sound_convert_step(struct sound_convert *c, struct sound_out *out)
{
    int64_t begin;

    *out = (struct sound_out){ .data = c->made };
    if (!c->encoder || !fill_frame(c))
        return false;
    out->size = sound_encode(c->encoder, c->frame, c->begun, c->made, &begin);
    if (out->size > 0)
        out->time = sound_line_time(&c->line, begin);
    c->counts.out += out->size > 0;
    c->begun += c->filled;
    c->filled = 0;
    return true;
}
