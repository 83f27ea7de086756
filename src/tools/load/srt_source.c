/* SPDX-License-Identifier: MIT */
/* srt_source.c - a file as packets of MPEG-TS, each when it is due. */
#include "tools/load/srt_source.h"

#include "base/must.h"
#include "tools/load/run.h"


enum { FRAME_MAX = 16 << 20, LOG_MAX = 64 << 20, PCR_HZ = 27 };
#define KEEP CO_SECONDS(5)           /* for repeats */
#define PCR_WRAP ((UINT64_C(1) << 33) * 300)
#define AUDIO_SPAN AV_MS(40)

/* ------------------------------------------------------------ TS */

static bool pcr_of(const uint8_t *p, unsigned *pid, uint64_t *pcr)
{
    *pid = (unsigned)(p[1] & 0x1f) << 8 | p[2];
    if (!(p[3] & 0x20) || p[4] < 7 || !(p[5] & 0x10))
        return false;
    *pcr = ((uint64_t)p[6] << 25 | (uint64_t)p[7] << 17 | (uint64_t)p[8] << 9 |
            (uint64_t)p[9] << 1 | p[10] >> 7) * 300 + ((p[10] & 1u) << 8 | p[11]);
    return true;
}

struct clock_marks {
    unsigned pid, seen;
    size_t first, last;    /* packets */
    uint64_t at;           /* the last one's PCR */
    co_usec time;          /* and its time from the first one's */
};

/* Between two PCRs packets are alike far from each other. */
static void take_pcr(struct load_ts_file *f, struct clock_marks *m, size_t i, uint64_t pcr)
{
    co_usec step = (co_usec)((pcr + PCR_WRAP - m->at) % PCR_WRAP / PCR_HZ);

    if (m->seen++ == 0)
        m->first = i;
    else if (step < CO_SECONDS(10)) /* else it began anew: no time goes by */
        for (size_t k = m->last + 1; k <= i; k++)
            f->due[k] = m->time + step * (co_usec)(k - m->last) / (co_usec)(i - m->last);
    m->time = f->due[i] = m->seen > 1 && step < CO_SECONDS(10) ? f->due[i] : m->time;
    m->last = i;
    m->at = pcr;
}

static err_t time_packets(struct load_ts_file *f)
{
    struct clock_marks m = { .seen = 0 };
    uint64_t pcr;
    unsigned pid;

    for (size_t i = 0; i < f->packets; i++) {
        const uint8_t *p = f->bytes + i * TS_PACKET;

        if (p[0] != 0x47)
            return err_new(ERR_MALFORMED, "no packet of TS at %zu", i * TS_PACKET);
        if (!pcr_of(p, &pid, &pcr) || (m.seen > 0 && pid != m.pid))
            continue;
        m.pid = pid;
        take_pcr(f, &m, i, pcr);
    }
    if (m.time == 0)
        return err_new(ERR_MALFORMED, "a file of TS without a clock");
    for (size_t i = m.last + 1; i < f->packets; i++)
        f->due[i] = m.time;
    f->period = m.time + m.time / (co_usec)(m.last - m.first + 1);
    return NULL;
}

err_t load_srt_file_load(struct load_srt_file *f, const char *path)
{
    size_t size;
    err_t err;

    *f = (struct load_srt_file){ .kbps = 0 };
    err = load_file_read(&f->ts.bytes, &size, path);
    if (err)
        return err;
    if (size > 0 && f->ts.bytes[0] == 0x47) {
        f->ts.packets = size / TS_PACKET;
        f->ts.due = must(calloc(f->ts.packets + 1, sizeof(f->ts.due[0])));
        err = time_packets(&f->ts);
        if (!err)
            f->kbps = (double)size * 8000 / (double)f->ts.period;
        return err;
    }
    free(f->ts.bytes);
    f->ts.bytes = NULL;
    err = load_media_load(&f->flv, path, true);
    if (!err)
        f->kbps = load_media_kbps(&f->flv);
    return err;
}

/* As much of it as goes into packets of one size. */
static void run_ts(struct load_srt_source *s, co_usec now)
{
    const struct load_ts_file *f = &s->file->ts;
    size_t most = s->payload / TS_PACKET;

    for (;;) {
        size_t n = f->packets - s->at < most ? f->packets - s->at : most;
        co_usec due = s->from + s->base + f->due[s->at + n - 1];

        if (due > now)
            return;
        (void)srt_log_put(&s->log, f->bytes + s->at * TS_PACKET, n * TS_PACKET, s->at == 0, due);
        s->at += n;
        if (s->at == f->packets) {
            s->at = 0;
            s->base += f->period;
        }
    }
}

/* ------------------------------------------------------------ FLV */

/* All that is muxed, the last packet as short as it is. */
static void cut(struct load_srt_source *s, co_usec due)
{
    for (size_t at = 0; at < s->out.len; at += s->payload) {
        size_t n = s->out.len - at < s->payload ? s->out.len - at : s->payload;

        (void)srt_log_put(&s->log, s->out.buf + at, n, s->key && at == 0, due);
    }
    s->key = false;
    s->out.len = 0;
}

static err_t mux(void *arg, const struct frame *f)
{
    struct load_srt_source *s = arg;
    err_t err;

    if (f->kind == AV_VIDEO && f->key) {
        cut(s, load_play_due(&s->play));
        s->key = true;
    }
    err = ts_mux_frame(&s->mux, f, &s->out);
    err_free(&err); /* a broken frame is left out */
    return NULL;
}

static void put_configs(struct load_srt_source *s)
{
    for (unsigned i = 0; i < s->file->flv.n; i++) {
        struct frame f;
        err_t err = load_track_config(&s->file->flv.tracks[i], &f)
                        ? ts_mux_frame(&s->mux, &f, &s->out) : NULL;

        err_free(&err);
    }
}

static void run_flv(struct load_srt_source *s, co_usec now)
{
    co_usec due = now;
    err_t err;

    for (; load_play_due(&s->play) <= now; load_play_next(&s->play)) {
        due = load_play_due(&s->play);
        err = load_message_frames(s->play.msg, s->play.time, s->marker ? &s->number : NULL, mux, s);
        err_free(&err); /* there is none */
    }
    cut(s, due);
}

/* ------------------------------------------------------------ both */

void load_srt_source_init(struct load_srt_source *s, const struct load_srt_file *file,
                          size_t payload, bool marker)
{
    *s = (struct load_srt_source){ .file = file, .payload = payload / TS_PACKET * TS_PACKET,
                                   .marker = marker };
    srt_log_init(&s->log);
    wr_init(&s->out, FRAME_MAX);
    ts_mux_init(&s->mux);
    s->mux.audio_span = AUDIO_SPAN;
}

void load_srt_source_run(struct load_srt_source *s, co_usec now)
{
    if (s->from == 0) {
        s->from = now;
        if (s->file->flv.n > 0) {
            load_play_begin(&s->play, &s->file->flv, (unsigned)rand(), now);
            put_configs(s);
        }
    }
    if (s->file->flv.n > 0)
        run_flv(s, now);
    else
        run_ts(s, now);
    srt_log_trim(&s->log, now - KEEP, s->log.head, LOG_MAX);
}
