/* SPDX-License-Identifier: MIT */
/* pack.c - packs frames into RTP payloads. */
#include "format/rtp/pack_impl.h"

/* Parameter sets have some hundred bytes. Larger ones are only in the SDP: before each of many
 * small key frames they would be most of the stream. */
enum { SETS_MAX = 4096, WAITING_MAX = 64 * 1024, G711_RATE = 8000 };

bool rtp_packer_init(struct rtp_packer *p, const struct rtp_packer_opts *opts)
{
    *p = (struct rtp_packer){ .opts = *opts, .fmt = rtp_format_of(opts->codec),
                              .clock = av_codec_row(opts->codec)->rtp.clock, .nalu_length = 4 };
    if (p->opts.mtu < RTP_MTU_MIN)
        p->opts.mtu = RTP_MTU_MIN;
    if (p->opts.mtu > RTP_MTU_MAX)
        p->opts.mtu = RTP_MTU_MAX;
    wr_init(&p->before_key, SETS_MAX);
    wr_init(&p->waiting, WAITING_MAX);
    return p->fmt != NULL;
}

void rtp_packer_fini(struct rtp_packer *p)
{
    wr_free(&p->before_key);
    wr_free(&p->waiting);
}

uint8_t *rtp_pack_packet(struct rtp_packer *p, size_t size, bool marker)
{
    struct rtp_sink *s = p->sink;
    uint8_t *at = wr_reserve(s->out, s->head + size);

    if (!at)
        return NULL;
    s->packet(s, at, size, marker, p->ticks);
    s->out->len += s->head + size;
    return at + s->head;
}

/* Scales whole seconds separately, so that no product overflows. */
static int64_t scale(int64_t v, int64_t from, int64_t to)
{
    return v / from * to + v % from * to / from;
}

/* Computes the frame's timestamp; for audio from the number of samples. */
static err_t find_ticks(struct rtp_packer *p, const struct frame *f)
{
    uint32_t samples, rate = p->count.rate;

    if (f->kind == AV_VIDEO) {
        p->ticks = f->pts;
        return NULL;
    }
    samples = av_codec_samples(f->codec, f->data, f->size, &rate);
    if (p->clock == 0 && av_codec_row(f->codec)->rtp.fixed)
        p->clock = G711_RATE;
    if (rate == 0)
        rate = p->clock;
    if (rate == 0)
        return err_new(ERR_CODEC, "%s before its configuration", av_codec_name(f->codec));
    if (rate != p->count.rate)
        p->count = (struct audio_clock){ .rate = rate };
    if (samples == 0 && p->clock == G711_RATE)
        samples = (uint32_t)f->size;
    p->ticks = audio_clock_next(&p->count, f->dts, samples);
    if (rate != p->clock)
        p->ticks = scale(p->ticks, rate, p->clock);
    return NULL;
}

static err_t configure(struct rtp_packer *p, const struct frame *f)
{
    err_t err;

    if (p->fmt->flush)
        p->fmt->flush(p);
    if (!p->fmt->configure)
        return NULL;
    wr_free(&p->before_key);
    wr_init(&p->before_key, SETS_MAX);
    err = p->fmt->configure(p, f);
    if (p->before_key.bad)
        p->before_key.len = 0;
    return err;
}

err_t rtp_pack(struct rtp_packer *p, const struct frame *f, struct rtp_sink *sink)
{
    err_t err;

    if (f->codec != p->opts.codec)
        return err_new(ERR_UNSUPPORTED, "%s in a track of %s", av_codec_name(f->codec),
                       av_codec_name(p->opts.codec));
    p->sink = sink;
    if (f->config)
        return configure(p, f);
    err = find_ticks(p, f);
    return err ? err : p->fmt->pack(p, f);
}
