/* SPDX-License-Identifier: MIT */
/* demux_psi.c - the tables of a transport stream: PAT and PMT, [TS] 2.4.4. */
#include "base/rd.h"
#include "format/ts/demux_impl.h"
#include "format/ts/pes.h"

#include <string.h>

enum { PAT = 0, PMT = 2, HEAD = 8, CRC = 4, PID_MIN = 0x10, STUFFING = 0xff,
       WAIT_MAX = 8 /* PATs after which a program without PMT is ignored */ };

static void reset(struct ts_section *s, uint16_t pid)
{
    s->pid = pid;
    s->open = false;
    s->count.last = -1;
}

void ts_psi_init(struct ts_demux *d)
{
    for (int i = 0; i < 2; i++) {
        struct ts_section *s = i ? &d->pmt : &d->pat;

        wr_init(&s->data, TS_SECTION_MAX);
        wr_init(&s->raw, TS_TABLE_MAX);
    }
    wr_init(&d->last_pat, TS_TABLE_MAX);
    wr_init(&d->last_pmt, TS_TABLE_MAX);
    reset(&d->pat, 0);
    reset(&d->pmt, TS_PID_NONE);
    d->pat_version = UINT32_MAX;
}

void ts_psi_fini(struct ts_demux *d)
{
    wr_free(&d->pat.data);
    wr_free(&d->pat.raw);
    wr_free(&d->pmt.data);
    wr_free(&d->pmt.raw);
    wr_free(&d->last_pat);
    wr_free(&d->last_pmt);
}

void ts_psi_hole(struct ts_demux *d)
{
    reset(&d->pat, d->pat.pid);
    reset(&d->pmt, d->pmt.pid);
}

/* ---- programs */

static void choose(struct ts_demux *d, unsigned n)
{
    d->program = n;
    d->waited = 0;
    wr_clear(&d->last_pmt);
    if (d->n_programs > 0)
        reset(&d->pmt, d->programs[n].pid);
}

/* A program that can be read is not replaced by another. */
static bool is_reading(const struct ts_demux *d)
{
    return d->es[0].reader || d->es[1].reader;
}

static void tell_others(struct ts_demux *d)
{
    for (unsigned i = 0; i < d->n_programs; i++) {
        const struct ts_program *p = &d->programs[i];

        if (i != d->program && is_reading(d))
            ts_tell(d, TS_NOTE_PROGRAM, &(struct ts_told){ .pid = p->pid, .program = p->number });
    }
}

static void add_program(struct ts_demux *d, uint16_t number, uint16_t pid)
{
    unsigned i = 0;

    if (number == 0 || pid < PID_MIN || pid == TS_PID_NULL)
        return; /* 0: the network */
    while (i < d->n_programs && d->programs[i].number != number)
        i++;
    if (i == TS_PROGRAMS_MAX)
        return;
    if (i == d->n_programs)
        d->n_programs++;
    d->programs[i] = (struct ts_program){ number, pid };
}

/* [TS] 2.4.4.3. Each of several sections adds its programs. */
static void read_pat(struct ts_demux *d, const struct ts_section *s)
{
    const uint8_t *p = s->data.buf;
    struct rd r = rd_init(p + HEAD, s->data.len - HEAD - CRC);
    uint32_t version = (uint32_t)p[3] << 16 | (uint32_t)p[4] << 8 | (p[5] & 0x3e);
    struct ts_program was = { 0 };

    if (d->n_programs > 0)
        was = d->programs[d->program];
    if (version != d->pat_version)
        d->n_programs = 0;
    d->pat_version = version;
    while (rd_left(&r) >= 4) {
        uint16_t number = rd_u16(&r);

        add_program(d, number, rd_u16(&r) & 0x1fff);
    }
    for (unsigned i = 0; i < d->n_programs; i++) {
        if (d->programs[i].number != was.number || d->programs[i].pid != was.pid)
            continue;
        d->program = i;
        tell_others(d);
        if (++d->waited > WAIT_MAX && !is_reading(d))
            choose(d, (i + 1) % d->n_programs);
        return;
    }
    choose(d, 0);
}

/* ---- streams */

static enum av_kind kind_of(const struct ts_stream *s)
{
    return av_codec_row(s->reader->codec)->kind;
}

/* Returns the stream that is already read, or the first one. */
static const struct ts_stream *pick(const struct ts_es *es, enum av_kind kind,
                                    const struct ts_stream *streams, unsigned n)
{
    const struct ts_stream *first = NULL;

    for (unsigned i = 0; i < n; i++) {
        const struct ts_stream *s = &streams[i];

        if (!s->reader || kind_of(s) != kind)
            continue;
        if (es->pid == s->pid && es->reader == s->reader)
            return s;
        first = first ? first : s;
    }
    return first;
}

static void tell_streams(struct ts_demux *d, const struct ts_stream *streams, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        const struct ts_stream *s = &streams[i];
        struct ts_told told = { .pid = s->pid, .type = s->type, .name = s->name };

        if (!s->reader)
            ts_tell(d, TS_NOTE_TYPE, &told);
        else if (s->pid != d->es[kind_of(s)].pid)
            ts_tell(d, TS_NOTE_MORE, &told);
    }
}

static void use(struct ts_demux *d, const struct ts_stream *streams, unsigned n)
{
    const struct ts_stream *video = pick(&d->es[AV_VIDEO], AV_VIDEO, streams, n);
    const struct ts_stream *audio = pick(&d->es[AV_AUDIO], AV_AUDIO, streams, n);

    ts_es_set(&d->es[AV_VIDEO], video);
    ts_es_set(&d->es[AV_AUDIO], audio);
    tell_streams(d, streams, n);
    if (!video && !audio && d->n_programs > 1)
        choose(d, (d->program + 1) % d->n_programs);
    else
        tell_others(d);
}

/* [TS] 2.4.4.9 */
static bool read_pmt(struct ts_demux *d, const struct ts_section *s)
{
    struct rd r = rd_init(s->data.buf + HEAD, s->data.len - HEAD - CRC);
    struct ts_stream streams[TS_STREAMS_MAX] = { { 0 } };
    uint16_t number = (uint16_t)(s->data.buf[3] << 8 | s->data.buf[4]);
    unsigned n = 0;

    if (d->n_programs == 0 || number != d->programs[d->program].number)
        return false;
    (void)rd_u16(&r); /* PCR_PID */
    (void)rd_take(&r, rd_u16(&r) & 0x0fff);
    while (rd_left(&r) >= 5 && n < TS_STREAMS_MAX) {
        uint8_t type = rd_u8(&r);
        uint16_t pid = rd_u16(&r) & 0x1fff;
        size_t size = rd_u16(&r) & 0x0fff;
        const uint8_t *info = rd_take(&r, size);

        if (!info)
            break;
        if (pid < PID_MIN || pid == TS_PID_NULL || pid == d->pmt.pid)
            continue;
        streams[n] = ts_stream_of(type, info, size);
        streams[n].type = type;
        streams[n++].pid = pid;
    }
    d->waited = 0;
    use(d, streams, n);
    return true;
}

/* ---- sections */

/* True if the section is valid, currently applicable and of this table. */
static bool is_good(const struct ts_section *s, uint8_t table)
{
    const uint8_t *p = s->data.buf;

    return s->data.len >= HEAD + CRC && p[0] == table && p[1] & 0x80 && p[5] & 1 &&
           ts_crc32(p, s->data.len) == 0;
}

static void keep_table(struct wr *last, const struct ts_section *s)
{
    wr_clear(last);
    wr_bytes(last, s->raw.buf, s->raw.len);
}

static void complete(struct ts_demux *d, struct ts_section *s)
{
    if (s == &d->pat && is_good(s, PAT)) {
        read_pat(d, s);
        keep_table(&d->last_pat, s);
    } else if (s == &d->pmt && is_good(s, PMT) && read_pmt(d, s)) {
        keep_table(&d->last_pmt, s);
    }
}

/* Collects the packets of a section. Another section or stuffing follows it. 2.4.4 */
static void collect(struct ts_demux *d, struct ts_section *s, const uint8_t *p, size_t n)
{
    struct wr *w = &s->data;

    while (n > 0) {
        size_t want = 3, k;

        if (!s->open && *p == STUFFING)
            return;
        if (!s->open)
            wr_clear(w);
        s->open = true;
        if (w->len >= 3)
            want += (w->buf[1] & 0x0fu) << 8 | w->buf[2];
        k = want - w->len < n ? want - w->len : n;
        if (want <= TS_SECTION_MAX)
            wr_bytes(w, p, k);
        if (want > TS_SECTION_MAX || w->bad) {
            s->open = false;
            return;
        }
        p += k;
        n -= k;
        if (w->len == want && want > 3) {
            s->open = false;
            complete(d, s);
        } else if (w->len == 3 && (w->buf[1] & 0x0f) == 0 && w->buf[2] == 0) {
            s->open = false;
        }
    }
}

static void add_raw(struct ts_section *s, const struct ts_packet *k)
{
    wr_bytes(&s->raw, k->raw, TS_PACKET);
}

static void keep_raw(struct ts_section *s, const struct ts_packet *k)
{
    if (k->start)
        wr_clear(&s->raw);
    add_raw(s, k);
}

/* All tables end with stuffing, and the counter of a restarted multiplexer may continue by chance,
 * so a new table must not be taken for a repeated packet. */
static bool is_kept(const struct ts_section *s, const struct ts_packet *k)
{
    return s->raw.len >= TS_PACKET &&
           memcmp(s->raw.buf + s->raw.len - TS_PACKET, k->raw, TS_PACKET) == 0;
}

void ts_psi_packet(struct ts_demux *d, struct ts_section *s, const struct ts_packet *k)
{
    enum ts_follows follows = ts_follows(&s->count, k);
    const uint8_t *p = k->data;
    size_t n = k->size, pointer;

    if (follows == TS_REPEATED && is_kept(s, k)) {
        s->count.repeated = true;
        d->stat.repeated++;
        return;
    }
    if (follows != TS_NEXT)
        s->open = false;
    ts_follow(&s->count, k);
    if (!k->start) {
        keep_raw(s, k);
        if (s->open)
            collect(d, s, p, n);
        return;
    }
    pointer = *p++;
    n--;
    if (pointer > n) {
        s->open = false;
        return;
    }
    if (s->open) { /* its end */
        add_raw(s, k);
        collect(d, s, p, pointer);
    }
    s->open = false;
    keep_raw(s, k);
    collect(d, s, p + pointer, n - pointer);
}
