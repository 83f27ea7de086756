/* SPDX-License-Identifier: MIT */
/* demux.c - demultiplexes an MPEG transport stream: finds its packets and their streams. */
#include "format/ts/demux_impl.h"

#include "base/must.h"

#include <string.h>

enum { SYNCS = 3, SYNC_SPAN = (SYNCS - 1) * TS_PACKET + 1, TAIL_AT = TS_PACKET - TS_TAIL };

struct ts_demux *ts_demux_new(const struct ts_demux_opts *opts)
{
    struct ts_demux *d = must(calloc(1, sizeof(*d)));

    d->opts = *opts;
    if (d->opts.pes_max == 0)
        d->opts.pes_max = TS_PES_MAX;
    ts_psi_init(d);
    for (int i = 0; i < 2; i++)
        ts_es_init(&d->es[i], d);
    return d;
}

void ts_demux_free(struct ts_demux *d)
{
    if (!d)
        return;
    for (int i = 0; i < 2; i++)
        ts_es_fini(&d->es[i]);
    ts_psi_fini(d);
    free(d->pieces);
    free(d);
}

void ts_demux_put(struct ts_demux *d, const uint8_t *data, size_t size)
{
    d->in = data;
    d->in_size = size;
}

static void hole(struct ts_demux *d)
{
    d->stat.holes++;
    d->synced = false;
    d->has_packet = false;
    ts_psi_hole(d);
    for (int i = 0; i < 2; i++) {
        ts_es_break(&d->es[i]);
        d->es[i].count.last = -1;
    }
}

void ts_demux_hole(struct ts_demux *d)
{
    d->stat.skipped += d->carry_len - d->carry_at;
    d->carry_at = d->carry_len = 0;
    hole(d);
}

void ts_demux_flush(struct ts_demux *d)
{
    for (int i = 0; i < 2; i++)
        ts_es_flush(&d->es[i]);
}

/* ---- bytes to packets */

static void skip_in(struct ts_demux *d, size_t n)
{
    d->in += n;
    d->in_size -= n;
    d->taken += n;
}

/* Copies bytes to d->carry, for a packet in two pieces or for the search for packets. */
static void fill_carry(struct ts_demux *d, size_t want)
{
    size_t have = d->carry_len - d->carry_at, n;

    if (d->carry_at > 0)
        memmove(d->carry, d->carry + d->carry_at, have);
    d->carry_at = 0;
    n = want - have < d->in_size ? want - have : d->in_size;
    if (n > 0)
        memcpy(d->carry + have, d->in, n);
    d->carry_len = have + n;
    skip_in(d, n);
}

static bool has_syncs(const uint8_t *p)
{
    return p[0] == TS_SYNC && p[TS_PACKET] == TS_SYNC && p[2 * TS_PACKET] == TS_SYNC;
}

/* Searches for the start of a packet; false if it is not in the input. */
static bool find_sync(struct ts_demux *d)
{
    for (;;) {
        if (d->carry_len - d->carry_at < TS_CARRY)
            fill_carry(d, TS_CARRY);
        while (d->carry_len - d->carry_at >= SYNC_SPAN) {
            if (has_syncs(d->carry + d->carry_at)) {
                d->synced = true;
                return true;
            }
            d->carry_at++;
            d->stat.skipped++;
        }
        if (d->in_size == 0)
            return false;
    }
}

/* Returns the next 188 bytes and their offset; NULL: not all of them have arrived. */
static const uint8_t *next_bytes(struct ts_demux *d, uint64_t *at)
{
    size_t have = d->carry_len - d->carry_at;
    const uint8_t *p = d->in;

    *at = d->taken - have;
    if (have == 0 && d->in_size >= TS_PACKET)
        return p;
    if (have < TS_PACKET)
        fill_carry(d, TS_PACKET);
    return d->carry_len - d->carry_at < TS_PACKET ? NULL : d->carry + d->carry_at;
}

static void skip_bytes(struct ts_demux *d)
{
    if (d->carry_len > d->carry_at)
        d->carry_at += TS_PACKET;
    else
        skip_in(d, TS_PACKET);
}

static const uint8_t *next_packet(struct ts_demux *d, uint64_t *at)
{
    const uint8_t *p;

    for (;;) {
        if (!d->synced && !find_sync(d))
            return NULL;
        p = next_bytes(d, at);
        if (!p)
            return NULL;
        if (*p == TS_SYNC)
            break;
        hole(d);
        if (d->es[0].busy || d->es[1].busy)
            return NULL;
    }
    skip_bytes(d);
    d->stat.packets++;
    return p;
}

/* ---- parsing a packet, [TS] 2.4.3.2 */

/* Returns the bytes of an adaptation field without stuffing, 2.4.3.4. The field has its flags. */
static size_t field_used(const uint8_t *field, size_t size)
{
    uint8_t flags = field[0];
    size_t used = 1 + (flags & 0x10 ? 6 : 0) + (flags & 0x08 ? 6 : 0) + (flags & 0x04 ? 1 : 0);

    if (flags & 0x02 && used < size)
        used += 1u + field[used];
    if (flags & 0x01 && used < size)
        used += 1u + field[used];
    return used;
}

/* Reads the adaptation field. False: the packet has no payload, or is invalid. */
static bool read_field(struct ts_packet *k, const uint8_t *p)
{
    size_t size = p[4];

    if (size > TS_PACKET - 6)
        return false;
    k->stuffed = size == 0 || field_used(p + 5, size) < size;
    k->new_clock = size > 0 && p[5] & 0x80;
    k->data += 1 + size;
    k->size -= 1 + size;
    return true;
}

static struct ts_es *es_of(struct ts_demux *d, uint16_t pid)
{
    for (int i = 0; i < 2; i++) {
        if (d->es[i].pid == pid)
            return &d->es[i];
    }
    return NULL;
}

static void scrambled(struct ts_demux *d, struct ts_es *es)
{
    d->stat.scrambled++;
    if (!es)
        return;
    ts_es_break(es);
    es->count.last = -1;
    ts_tell(d, TS_NOTE_SCRAMBLED, &(struct ts_told){
        .pid = es->pid, .type = es->type, .name = av_codec_name(es->reader->codec) });
}

/* Reads a packet. False: it is not needed. */
static bool read_packet(struct ts_demux *d, const uint8_t *p, uint64_t at)
{
    struct ts_packet *k = &d->packet;
    uint16_t pid = (uint16_t)((p[1] & 0x1f) << 8 | p[2]);
    struct ts_es *es;
    uint8_t control = p[3] >> 4 & 3;

    if (p[1] & 0x80 || control == 0) {
        d->stat.errors++;
        return false;
    }
    es = es_of(d, pid);
    if (!es && pid != d->pat.pid && pid != d->pmt.pid)
        return false;
    if (p[3] & 0xc0) {
        scrambled(d, es);
        return false;
    }
    *k = (struct ts_packet){ .data = p + 4, .size = TS_PACKET - 4, .at = at, .pid = pid,
                             .cc = p[3] & 0x0f, .start = p[1] & 0x40, .raw = p };
    if (control == 1)
        return true;
    if (control == 3 && read_field(k, p))
        return true;
    d->stat.errors += control == 3;
    return false;
}

enum ts_follows ts_follows(const struct ts_count *c, const struct ts_packet *k)
{
    if (c->last < 0 || k->cc == ((c->last + 1) & 0x0f))
        return TS_NEXT;
    if (k->cc == c->last && !c->repeated && memcmp(c->tail, k->raw + TAIL_AT, TS_TAIL) == 0)
        return TS_REPEATED;
    return k->new_clock && k->start ? TS_NEXT : TS_JUMPED; /* 2.4.3.5 */
}

void ts_follow(struct ts_count *c, const struct ts_packet *k)
{
    c->last = k->cc;
    c->repeated = false;
    memcpy(c->tail, k->raw + TAIL_AT, TS_TAIL);
}

/* Passes the packet on. False: it must be passed on again later. */
static bool take_packet(struct ts_demux *d)
{
    const struct ts_packet *k = &d->packet;
    struct ts_es *es = es_of(d, k->pid);

    if (es)
        return ts_es_packet(es, k);
    ts_psi_packet(d, k->pid == d->pat.pid ? &d->pat : &d->pmt, k);
    return true;
}

/* ---- frames */

/* Does one step of work; false: nothing is left to do. */
static bool step(struct ts_demux *d)
{
    const uint8_t *p;
    uint64_t at;

    for (int i = 0; i < 2; i++) {
        struct ts_es *es = &d->es[i];

        if (es->busy) {
            if (es->reader->video)
                ts_video_step(es);
            else
                ts_audio_step(es);
            return true;
        }
        ts_es_tidy(es);
    }
    if (!d->has_packet) {
        p = next_packet(d, &at);
        if (!p)
            return d->es[0].busy || d->es[1].busy;
        d->has_packet = read_packet(d, p, at);
    }
    if (d->has_packet)
        d->has_packet = !take_packet(d);
    return true;
}

static bool give(struct ts_demux *d, struct ts_es *es, struct ts_frame *f)
{
    *f = d->out;
    if (es->config_due) {
        es->config_due = false;
        d->config_piece = (struct ts_piece){ .data = es->config.buf,
                                             .size = (uint32_t)es->config.len };
        f->config = true;
        f->key = false;
        f->size = es->config.len;
        f->pieces = &d->config_piece;
        f->n_pieces = 1;
        return true;
    }
    es->ready = false;
    d->stat.frames++;
    return true;
}

bool ts_demux_next(struct ts_demux *d, struct ts_frame *f)
{
    do {
        for (int i = 0; i < 2; i++) {
            if (d->es[i].ready)
                return give(d, &d->es[i], f);
        }
    } while (step(d));
    return false;
}

void ts_frame_copy(const struct ts_frame *f, uint8_t *out)
{
    for (unsigned i = 0; i < f->n_pieces; i++) {
        const struct ts_piece *p = &f->pieces[i];

        memcpy(out, p->head, p->head_size);
        memcpy(out + p->head_size, p->data, p->size);
        out += p->head_size + p->size;
    }
}

/* ---- reports and state */

void ts_tell(struct ts_demux *d, enum ts_note note, const struct ts_told *told)
{
    uint32_t what = note == TS_NOTE_PROGRAM ? told->program
                                            : (uint32_t)told->pid << 8 | told->type;
    struct ts_told out = *told;

    for (unsigned i = 0; i < d->n_told; i++) {
        if (d->told[i].note == note && d->told[i].what == what)
            return;
    }
    if (!d->opts.tell || d->n_told == TS_TOLD_MAX)
        return;
    d->told[d->n_told].note = note;
    d->told[d->n_told++].what = what;
    out.note = note;
    d->opts.tell(d->opts.arg, &out);
}

enum av_codec ts_demux_codec(const struct ts_demux *d, enum av_kind kind)
{
    return kind < AV_DATA && d->es[kind].reader ? d->es[kind].reader->codec : AV_CODEC_NONE;
}

size_t ts_demux_tables(const struct ts_demux *d, uint8_t out[TS_TABLES_MAX])
{
    size_t pat = d->last_pat.len, pmt = d->last_pmt.len;

    if (pat == 0 || pmt == 0)
        return 0;
    memcpy(out, d->last_pat.buf, pat);
    memcpy(out + pat, d->last_pmt.buf, pmt);
    return pat + pmt;
}

void ts_demux_stat(const struct ts_demux *d, struct ts_demux_stat *out)
{
    *out = d->stat;
}
