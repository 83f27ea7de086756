/* SPDX-License-Identifier: MIT */
/* mux.c - frames to an MPEG transport stream. */
#include "format/ts/mux.h"

#include "av/h264.h"
#include "av/h265.h"
#include "av/mp3.h"
#include "av/nalu.h"
#include "av/opus.h"
#include "format/ts/pes.h"

#include <string.h>

enum { SETS_MAX = 64 * 1024, AUDIO_MAX = 60000 };

#define TABLES_PERIOD AV_MS(500)
#define PCR_PERIOD AV_MS(90) /* [TS] 2.7.2: at most 100 ms apart */
#define CLOCK_SPAN AV_MS(60)    /* of audio frames in one PES that has the clock */
#define CLOCK_SLACK AV_MS(1000) /* audio that is so far behind video begins a new time */

static const struct {
    enum av_codec codec;
    uint8_t type, id;
} types[] = {
    { AV_H264, 0x1b, 0xe0 }, { AV_H265, 0x24, 0xe0 }, { AV_AAC, 0x0f, 0xc0 },
    { AV_MP3, 0x03, 0xc0 }, { AV_OPUS, 0x06, 0xbd },
};

void ts_mux_init(struct ts_mux *m)
{
    *m = (struct ts_mux){ .video.pid = TS_PID_VIDEO, .audio.pid = TS_PID_AUDIO, .video_at = -1 };
    wr_init(&m->sets, SETS_MAX);
    wr_init(&m->pending, AUDIO_MAX);
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

static size_t type_of(enum av_codec codec)
{
    size_t i = 0;

    while (i < sizeof(types) / sizeof(types[0]) && types[i].codec != codec)
        i++;
    return i;
}

bool ts_mux_takes(enum av_codec codec)
{
    return type_of(codec) < sizeof(types) / sizeof(types[0]);
}

static err_t use_codec(struct ts_mux *m, struct ts_track *t, const struct frame *f,
                       struct wr *out)
{
    size_t i = type_of(f->codec);
    struct mp3_frame mp3;
    uint8_t type;
    err_t err;

    if (i == sizeof(types) / sizeof(types[0]))
        return err_new(ERR_UNSUPPORTED, "%s in MPEG-TS", av_codec_name(f->codec));
    type = types[i].type;
    if (f->codec == AV_MP3 && t->codec != AV_MP3) { /* [TS] 2-34: by the halved sample rates */
        err = mp3_frame_parse(&mp3, f->data, f->size);
        if (err)
            return err;
        type = mp3.rate < 32000 ? 0x04 : 0x03;
    }
    if (t->codec == f->codec)
        return NULL;
    if (t == &m->audio)
        ts_mux_flush(m, out);
    t->codec = f->codec;
    t->type = type;
    t->id = types[i].id;
    ts_tables_build(m);
    return NULL;
}

/* ------------------------------------------------------------ configuration */

static void put_set(struct ts_mux *m, const uint8_t *unit, size_t size)
{
    wr_u32(&m->sets, 1);
    wr_bytes(&m->sets, unit, size);
}

static err_t h264_sets(struct ts_mux *m, const struct frame *f)
{
    struct h264_config c;
    err_t err = h264_record_parse(&c, f->data, f->size);

    if (err)
        return err;
    wr_free(&m->sets);
    m->nalu_length = c.nalu_length;
    for (int k = 0; k < 2; k++) {
        const uint8_t *p = k ? c.pps : c.sps;

        for (int i = k ? c.pps_count : c.sps_count; i > 0; i--) {
            size_t n = (size_t)p[0] << 8 | p[1];

            if (n > 0)
                put_set(m, p + 2, n);
            p += 2 + n;
        }
    }
    return NULL;
}

static err_t h265_sets(struct ts_mux *m, const struct frame *f)
{
    struct h265_config c;
    const uint8_t *unit;
    size_t n;
    err_t err = h265_record_parse(&c, f->data, f->size);

    if (err)
        return err;
    wr_free(&m->sets);
    m->nalu_length = c.nalu_length;
    while (h265_sets_next(&c.sets, &unit, &n)) {
        if (n > 0)
            put_set(m, unit, n);
    }
    return NULL;
}

static err_t configure(struct ts_mux *m, const struct frame *f)
{
    struct av_info info;
    err_t err;

    switch (f->codec) {
    case AV_H264:
        return h264_sets(m, f);
    case AV_H265:
        return h265_sets(m, f);
    case AV_AAC:
        err = aac_asc_parse(&m->aac, f->data, f->size);
        m->has_aac = err == NULL;
        return err;
    case AV_OPUS:
        err = av_info_parse(&info, AV_OPUS, f->data, f->size);
        if (!err && m->opus_channels != info.channels) {
            m->opus_channels = (uint8_t)info.channels;
            ts_tables_build(m);
        }
        return err;
    default:
        return NULL;
    }
}

/* ------------------------------------------------------------ tables, clock */

static void put_tables(struct ts_mux *m, int64_t dts, struct wr *out)
{
    if (!m->tables_due && dts >= m->tables_at && dts - m->tables_at < TABLES_PERIOD)
        return;
    m->tables[3] = m->tables[TS_PACKET + 3] = (uint8_t)(0x10 | m->tables_cc);
    m->tables_cc = (m->tables_cc + 1) & 0x0f;
    m->tables_due = false;
    m->tables_at = dts;
    wr_bytes(out, m->tables, sizeof(m->tables));
}

/* [TS] 2.4.3.5: a clock that goes back is another one. */
static void note_clock(struct ts_mux *m, struct ts_track *t, int64_t at)
{
    t->new_clock = m->pcr_at - at > CLOCK_SLACK;
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
    } else if (at - m->pcr_at >= PCR_PERIOD || m->pcr_at - at > CLOCK_SLACK) {
        note_clock(m, &m->video, at);
        ts_pcr_packet(&m->video, at, out);
    }
    ts_pes_begin(&p, &m->audio, out, m->pending.len, at + TS_DELAY, at + TS_DELAY, clock ? at : -1,
                 clock);
    ts_pes_put(&p, m->pending.buf, m->pending.len);
    m->pending.len = 0;
}

/* [Opus-TS] opus_control_header(), with neither trimming nor extension. */
static void opus_head(struct wr *w, size_t size)
{
    wr_u16(w, 0x7fe0);
    for (; size >= 255; size -= 255)
        wr_u8(w, 255);
    wr_u8(w, (uint8_t)size);
}

static uint32_t rate_of(const struct ts_mux *m, const struct frame *f)
{
    struct mp3_frame mp3;
    err_t err;

    if (f->codec == AV_AAC)
        return m->aac.core_rate;
    if (f->codec == AV_OPUS)
        return 48000;
    err = mp3_frame_parse(&mp3, f->data, f->size);
    if (!err)
        return mp3.rate;
    err_free(&err);
    return m->clock.rate;
}

/* The time of a frame; *follows: it is where the one before it ends. */
static int64_t time_audio(struct ts_mux *m, const struct frame *f, bool *follows)
{
    struct audio_clock *c = &m->clock;
    uint32_t rate = rate_of(m, f);
    int64_t next = c->next, at;

    *follows = rate == c->rate && c->started;
    if (rate != c->rate)
        *c = (struct audio_clock){ .rate = rate, .loose = c->loose };
    if (rate == 0)
        return f->dts;
    at = audio_clock_next(c, f->dts, audio_samples(f->codec, f->data, f->size));
    *follows &= at == next;
    return at * AV_CLOCK / rate;
}

static err_t audio(struct ts_mux *m, const struct frame *f, struct wr *out)
{
    bool clock = m->video.codec == AV_CODEC_NONE, follows;
    int64_t span = m->audio_span, at;
    uint8_t adts[AAC_ADTS_HEADER];
    err_t err;

    if (f->size > AUDIO_MAX / 2)
        return err_new(ERR_CODEC, "an audio frame of %zu bytes", f->size);
    if (f->codec == AV_AAC) {
        if (!m->has_aac)
            return err_new(ERR_CODEC, "AAC before its configuration");
        err = aac_adts_build(adts, &m->aac, f->size);
        if (err)
            return err;
    }
    at = time_audio(m, f, &follows);
    if (!follows || m->pending.len + f->size > AUDIO_MAX / 2 ||
        at - m->pending_at >= (clock && span > CLOCK_SPAN ? CLOCK_SPAN : span))
        ts_mux_flush(m, out);
    if (m->pending.len == 0)
        m->pending_at = at;
    if (f->codec == AV_AAC)
        wr_bytes(&m->pending, adts, sizeof(adts));
    else if (f->codec == AV_OPUS)
        opus_head(&m->pending, f->size);
    wr_bytes(&m->pending, f->data, f->size);
    if (m->audio_span == 0)
        ts_mux_flush(m, out);
    return NULL;
}

/* ------------------------------------------------------------ video */

static bool is_aud(enum av_codec codec, const struct nalu *n)
{
    return codec == AV_H264 ? (n->data[0] & 0x1f) == H264_AUD
                            : h265_nalu_type(n->data[0]) == H265_AUD;
}

static bool is_sps(enum av_codec codec, const struct nalu *n)
{
    return codec == AV_H264 ? (n->data[0] & 0x1f) == H264_SPS
                            : h265_nalu_type(n->data[0]) == H265_SPS;
}

static err_t open_units(const struct ts_mux *m, const struct frame *f, struct nalu_reader *r)
{
    enum nalu_format format = nalu_detect(f->data, f->size, m->nalu_length ? m->nalu_length : 4);

    return nalu_begin(r, format, m->nalu_length ? m->nalu_length : 4, f->data, f->size);
}

/* The next one to write; n->data is NULL behind the last. */
static err_t next_unit(const struct frame *f, struct nalu_reader *r, struct nalu *n)
{
    err_t err;

    do {
        err = nalu_next(r, n);
    } while (!err && n->data && (n->size == 0 || is_aud(f->codec, n)));
    return err;
}

/* How many bytes the units make with their start codes, and do they bring their own sets? */
static err_t measure(const struct ts_mux *m, const struct frame *f, size_t *size, bool *own_sets)
{
    struct nalu_reader r;
    struct nalu n;
    err_t err = open_units(m, f, &r);

    *size = 0;
    *own_sets = false;
    while (!err && !(err = next_unit(f, &r, &n)) && n.data) {
        *size += 4 + n.size;
        *own_sets |= is_sps(f->codec, &n);
    }
    if (!err && *size == 0)
        err = err_new(ERR_CODEC, "a frame of %zu bytes without NAL units", f->size);
    return err;
}

/* No two have the same: what is not later than the one before it is just behind it. */
static int64_t time_video(struct ts_mux *m, const struct frame *f)
{
    bool later = f->dts > m->video_at || m->video_at - f->dts > CLOCK_SLACK;

    m->video_at = later ? f->dts : m->video_at + 1;
    return m->video_at;
}

static err_t video(struct ts_mux *m, const struct frame *f, struct wr *out)
{
    /* [TS] 2.14: each access unit begins with a delimiter; these allow slices of all types */
    static const uint8_t aud264[] = { 0, 0, 0, 1, 9, 0xf0 };
    static const uint8_t aud265[] = { 0, 0, 0, 1, 0x46, 1, 0x50 };
    bool is264 = f->codec == AV_H264, own_sets;
    size_t aud = is264 ? sizeof(aud264) : sizeof(aud265), size, sets;
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
    ts_pes_put(&p, is264 ? aud264 : aud265, aud);
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

    if (err)
        return err;
    if (f->config)
        return configure(m, f);
    if (f->kind == AV_AUDIO)
        return audio(m, f, out);
    return video(m, f, out);
}
