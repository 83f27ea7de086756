/* SPDX-License-Identifier: MIT */
/* mux.c - multiplexes frames into an MPEG transport stream. */
#include "format/ts/mux.h"

#include "av/nalu.h"
#include "format/ts/codecs.h"
#include "format/ts/pes.h"

#include <string.h>

#define TABLES_PERIOD AV_MS(500)
#define PCR_PERIOD AV_MS(90) /* [TS] 2.7.2: at most 100 ms apart */
#define CLOCK_SPAN AV_MS(60)    /* duration of audio in one PES packet that has the clock */
#define CLOCK_SLACK AV_MS(1000) /* audio that is later than video by more starts a new time */

void ts_mux_init(struct ts_mux *m)
{
    *m = (struct ts_mux){ .video.pid = TS_PID_VIDEO, .audio.pid = TS_PID_AUDIO, .video_at = -1,
                          .tables_period = TABLES_PERIOD, .pcr_period = PCR_PERIOD };
    wr_init(&m->pending, TS_AUDIO_MAX);
}

void ts_mux_fini(struct ts_mux *m)
{
    wr_free(&m->sets);
    wr_free(&m->pending);
}

void ts_mux_drop(struct ts_mux *m)
{
    m->pending.len = 0;
}

void ts_mux_restart(struct ts_mux *m)
{
    m->tables_due = true;
}

void ts_mux_renew(struct ts_mux *m, bool jumps)
{
    ts_mux_drop(m);
    m->video.codec = m->audio.codec = AV_CODEC_NONE;
    m->sets.len = 0;
    m->has_aac = false;
    m->clock = (struct audio_clock){ .loose = m->clock.loose };
    m->clock_due |= jumps;
    m->tables_due = true;
}

bool ts_mux_takes(enum av_codec codec)
{
    return ts_codec(codec) != NULL;
}

static err_t use_codec(struct ts_mux *m, struct ts_track *t, const struct frame *f,
                       struct wr *out)
{
    const struct ts_codec *c = ts_codec(f->codec);
    uint8_t type;
    err_t err;

    if (!c)
        return err_new(ERR_UNSUPPORTED, "%s in MPEG-TS", av_codec_name(f->codec));
    if (t->codec == f->codec)
        return NULL;
    type = c->type;
    if (c->type_of) {
        err = c->type_of(f, &type);
        if (err)
            return err;
    }
    if (t == &m->audio)
        ts_mux_flush(m, out);
    t->codec = f->codec;
    t->type = type;
    t->id = c->id;
    ts_tables_build(m);
    return NULL;
}

/* ------------------------------------------------------------ tables, clock */

static void put_tables(struct ts_mux *m, int64_t dts, struct wr *out)
{
    if (!m->tables_due && m->tables_at - dts < CLOCK_SLACK &&
        dts - m->tables_at < m->tables_period)
        return;
    m->tables[3] = m->tables[TS_PACKET + 3] = (uint8_t)(0x10 | m->tables_cc);
    m->tables_cc = (m->tables_cc + 1) & 0x0f;
    m->tables_due = false;
    m->tables_at = dts;
    wr_bytes(out, m->tables, sizeof(m->tables));
}

/* [TS] 2.4.3.5: a clock that goes back is a discontinuity. */
static void note_clock(struct ts_mux *m, struct ts_track *t, int64_t at)
{
    t->new_clock = m->clock_due || m->pcr_at - at > CLOCK_SLACK;
    m->clock_due = false;
    m->pcr_at = at;
}

/* ------------------------------------------------------------ audio */

void ts_mux_flush(struct ts_mux *m, struct wr *out)
{
    bool clock = m->video.codec == AV_CODEC_NONE;
    int64_t at = m->pending_at;
    struct ts_pes p;

    if (m->pending.len == 0)
        return;
    put_tables(m, at, out);
    if (clock) {
        note_clock(m, &m->audio, at);
    } else if (at - m->pcr_at >= m->pcr_period || m->pcr_at - at > CLOCK_SLACK) {
        note_clock(m, &m->video, at);
        ts_pcr_packet(&m->video, at, out);
    }
    ts_pes_begin(&p, &m->audio, out, m->pending.len, at + TS_DELAY, at + TS_DELAY, clock ? at : -1,
                 clock);
    ts_pes_put(&p, m->pending.buf, m->pending.len);
    m->pending.len = 0;
}

/* Returns the time of a frame; *follows: it starts at the end of the previous frame. */
static int64_t time_audio(struct ts_mux *m, const struct frame *f, bool *follows)
{
    struct audio_clock *c = &m->clock;
    uint32_t samples = av_codec_samples(f->codec, f->data, f->size, &m->rate), rate = m->rate;
    int64_t next = c->next, at;

    *follows = rate == c->rate && c->started;
    if (rate != c->rate)
        *c = (struct audio_clock){ .rate = rate, .loose = c->loose };
    if (rate == 0)
        return f->dts;
    at = audio_clock_next(c, f->dts, samples);
    *follows &= at == next;
    return at * AV_CLOCK / rate;
}

static err_t audio(struct ts_mux *m, const struct frame *f, struct wr *out)
{
    bool clock = m->video.codec == AV_CODEC_NONE, follows;
    int64_t span = m->audio_span, at;
    const struct ts_codec *c = ts_codec(f->codec);
    uint8_t head[TS_HEAD_MAX];
    size_t n = 0;
    err_t err;

    if (f->size > TS_AUDIO_MAX / 2)
        return err_new(ERR_CODEC, "an audio frame of %zu bytes", f->size);
    err = c->head ? c->head(m, f, head, &n) : NULL;
    if (err)
        return err;
    at = time_audio(m, f, &follows);
    if (!follows || m->pending.len + f->size > TS_AUDIO_MAX / 2 ||
        at - m->pending_at >= (clock && span > CLOCK_SPAN ? CLOCK_SPAN : span))
        ts_mux_flush(m, out);
    if (m->pending.len == 0)
        m->pending_at = at;
    wr_bytes(&m->pending, head, n);
    wr_bytes(&m->pending, f->data, f->size);
    if (m->audio_span == 0)
        ts_mux_flush(m, out);
    return NULL;
}

/* ------------------------------------------------------------ video */

static const struct nalu_codec *units_of(const struct frame *f)
{
    return av_codec_row(f->codec)->nalu;
}

static err_t open_units(const struct ts_mux *m, const struct frame *f, struct nalu_reader *r)
{
    enum nalu_format format = nalu_detect(f->data, f->size, m->nalu_length ? m->nalu_length : 4);

    return nalu_begin(r, format, m->nalu_length ? m->nalu_length : 4, f->data, f->size);
}

/* Gives the next unit to write; n->data is NULL at the end. */
static err_t next_unit(const struct frame *f, struct nalu_reader *r, struct nalu *n)
{
    err_t err;

    do {
        err = nalu_next(r, n);
    } while (!err && n->data &&
             (n->size == 0 || units_of(f)->type(n->data) == units_of(f)->type_aud));
    return err;
}

/* Computes the size of the units with their start codes, and whether they include parameter
 * sets. */
static err_t measure(const struct ts_mux *m, const struct frame *f, size_t *size, bool *own_sets)
{
    struct nalu_reader r;
    struct nalu n;
    err_t err = open_units(m, f, &r);

    *size = 0;
    *own_sets = false;
    while (!err && !(err = next_unit(f, &r, &n)) && n.data) {
        *size += 4 + n.size;
        *own_sets |= units_of(f)->type(n.data) == units_of(f)->type_sps;
    }
    if (!err && *size == 0)
        err = err_new(ERR_CODEC, "a frame of %zu bytes without NAL units", f->size);
    return err;
}

/* Times increase strictly: a frame that is not later than the previous one gets a time just after
 * it. */
static int64_t time_video(struct ts_mux *m, const struct frame *f)
{
    bool later = f->dts > m->video_at || m->video_at - f->dts > CLOCK_SLACK;

    m->video_at = later ? f->dts : m->video_at + 1;
    return m->video_at;
}

static err_t video(struct ts_mux *m, const struct frame *f, struct wr *out)
{
    const struct nalu_codec *units = units_of(f);
    size_t aud = 4u + units->aud_size, size, sets;
    bool own_sets;
    int64_t dts;
    struct nalu_reader r;
    struct ts_pes p;
    struct nalu n;
    err_t err;

    err = measure(m, f, &size, &own_sets);
    if (err)
        return err;
    sets = f->key && !own_sets ? m->sets.len : 0;
    dts = time_video(m, f);
    if (f->key)
        m->tables_due = true;
    put_tables(m, dts, out);
    note_clock(m, &m->video, dts);
    ts_pes_begin(&p, &m->video, out, aud + sets + size, (f->pts > dts ? f->pts : dts) + TS_DELAY,
                 dts + TS_DELAY, dts, f->key);
    ts_pes_put(&p, "\0\0\0\1", 4); /* [TS] 2.14: each access unit begins with a delimiter */
    ts_pes_put(&p, units->aud, units->aud_size);
    ts_pes_put(&p, m->sets.buf, sets);
    err = open_units(m, f, &r);
    while (!err && !(err = next_unit(f, &r, &n)) && n.data) {
        ts_pes_put(&p, "\0\0\0\1", 4);
        ts_pes_put(&p, n.data, n.size);
    }
    return err;
}

err_t ts_mux_frame(struct ts_mux *m, const struct frame *f, struct wr *out)
{
    err_t err = use_codec(m, f->kind == AV_VIDEO ? &m->video : &m->audio, f, out);
    const struct ts_codec *c = ts_codec(f->codec);

    if (err)
        return err;
    if (f->config)
        return c->configure ? c->configure(m, f) : NULL;
    if (f->kind == AV_AUDIO)
        return audio(m, f, out);
    return video(m, f, out);
}

void ts_mux_packet(struct ts_mux *m, struct frame_tracks *tracks, const struct av_packet *pkt,
                   struct wr *out)
{
    struct frame_reader r;
    struct frame f;

    frame_choose(tracks, pkt);
    frame_begin(&r, pkt);
    while (frame_next(&r, &f)) {
        err_t err = NULL;

        if (frame_is_of(tracks, &f) && ts_mux_takes(f.codec))
            err = ts_mux_frame(m, &f, out);
        err_free(&err);
    }
}
