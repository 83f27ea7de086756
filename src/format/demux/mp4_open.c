/* SPDX-License-Identifier: MIT */
/* mp4_open.c - opens an MP4 file: finds its moov and its tracks. */
#include "av/packet.h"
#include "base/mem.h"
#include "format/demux/mp4.h"

#include <stdlib.h>
#include <string.h>

enum { BOXES_MAX = 4096 }; /* before the moov */

#define TIME_MAX (INT64_C(1) << 52) /* 1/90000 s */

/* The first box of a file is one of these. */
static bool is_mp4(const uint8_t *begin, size_t size)
{
    static const char types[][5] = { "ftyp", "moov", "mdat", "free", "skip", "wide", "styp",
                                     "sidx", "pnot", "uuid" };

    for (size_t i = 0; size >= 8 && i < sizeof(types) / sizeof(types[0]); i++) {
        if (memcmp(begin + 4, types[i], 4) == 0)
            return true;
    }
    return false;
}

static void close_mp4(struct demux_index *index)
{
    struct mp4_index *x = (struct mp4_index *)index;

    for (int i = 0; i < DEMUX_TRACKS; i++)
        mp4_moov_drop(&x->tracks[i]);
    free(x->frags.v);
    free(x->tables);
    free(x);
}

/* ------------------------------------------------------------ the moov */

static enum demux_status find_moov(struct mp4_window *w, struct mp4_top *b, const char **why)
{
    enum demux_status st;

    b->at = 0;
    b->size = 0;
    for (int i = 0; i < BOXES_MAX; i++) {
        st = mp4_window_box(w, b->at + b->size, b);
        *why = "there is no moov in it";
        if (st != DEMUX_OK)
            return st == DEMUX_END ? DEMUX_BROKEN : st;
        *why = "its moov is not whole";
        if (b->type == MP4_TYPE('m', 'o', 'o', 'v'))
            return b->cut ? DEMUX_BROKEN : DEMUX_OK;
    }
    return DEMUX_BROKEN;
}

static enum demux_status read_moov(struct mp4_index *x, struct mp4_window *w,
                                   const struct mp4_top *b, size_t most, const char **why)
{
    size_t size = (size_t)b->size - b->head;
    enum demux_status st;

    *why = "its index is too large";
    if (size > most)
        return DEMUX_TOO_LARGE;
    *why = "there is no memory";
    x->tables = mem_try(size > 0 ? size : 1);
    x->tables_size = size;
    if (!x->tables)
        return DEMUX_NO_MEMORY;
    *why = "it cannot be read";
    st = w->in->read(w->in, b->at + b->head, x->tables, size);
    if (st != DEMUX_OK)
        return st;
    return mp4_moov_read(x, rd_init(x->tables, x->tables_size), w->in->size, why);
}

/* ------------------------------------------------------------ the index */

static void note_tables(struct mp4_index *x)
{
    for (int i = 0; i < DEMUX_TRACKS; i++) {
        const struct mp4_table *t = &x->tracks[i].table;

        if (t->n == 0)
            continue;
        x->seen[i] = true;
        x->begins[i] = mp4_table_at(t, t->first).dts;
        x->ends[i] = t->end;
    }
}

/* Removes tracks without samples. */
static void drop_empty(struct mp4_index *x)
{
    for (int i = 0; i < DEMUX_TRACKS; i++) {
        if (!x->tracks[i].codec.codec || x->seen[i])
            continue;
        mp4_moov_drop(&x->tracks[i]);
        x->head.info.left_out++;
    }
    x->main = x->seen[DEMUX_VIDEO] ? DEMUX_VIDEO : DEMUX_AUDIO;
}

/* Finds the shift of all times, so that no decoding time is negative; a recording of a running
 * stream starts at its first sample. */
static void find_zero(struct mp4_index *x)
{
    struct demux_info *info = &x->head.info;
    int64_t begin = INT64_MAX;

    for (int i = 0; i < DEMUX_TRACKS; i++) {
        int64_t at = x->seen[i] ? mp4_moov_dts(&x->tracks[i], x->begins[i]) : INT64_MAX;

        if (at < begin)
            begin = at;
    }
    if (begin < 0 || (x->frags.n > 0 && x->tracks[x->main].table.n == 0))
        x->shift = -begin;
    info->zero = x->shift > 0 ? x->shift : 0;
}

/* Frees the unused end of the array, which no longer grows. */
static void trim(struct mp4_frags *f)
{
    struct mp4_entry *v = f->n > 0 ? realloc(f->v, f->n * sizeof(v[0])) : NULL;

    if (!v)
        return;
    f->v = v;
    f->cap = f->n;
}

static void describe(struct mp4_index *x)
{
    struct demux_info *info = &x->head.info;

    info->format = "mp4";
    for (int i = 0; i < DEMUX_TRACKS; i++) {
        const struct mp4_trak *t = &x->tracks[i];
        int64_t end;

        if (!x->seen[i])
            continue;
        end = mp4_moov_time(t, x->ends[i]) + x->shift - info->zero;
        info->tracks[i] = (struct demux_track){
            .codec = t->codec.codec, .config = t->codec.config, .config_size = t->codec.size,
            .duration = mp4_moov_time(t, x->ends[i]) - mp4_moov_time(t, x->begins[i]),
        };
        if (end > info->duration)
            info->duration = end;
        info->memory += t->codec.size + t->table.n_marks * sizeof(t->table.marks[0]);
    }
    info->memory += sizeof(*x) + x->tables_size + x->frags.cap * sizeof(x->frags.v[0]);
    if (info->duration > 0)
        info->kbps = (unsigned)((double)x->file_size * 8 / 1000 /
                                ((double)info->duration / AV_CLOCK));
}

static bool has_tables(const struct mp4_index *x)
{
    return x->tracks[DEMUX_VIDEO].table.n > 0 || x->tracks[DEMUX_AUDIO].table.n > 0;
}

/* Scans again by the audio track if the video track has no frames. */
static enum demux_status scan(struct mp4_index *x, struct mp4_window *w, int64_t from,
                              size_t memory, const char **why)
{
    enum demux_status st;

    if (!has_tables(x) && mp4_known(x, w, from, memory))
        return DEMUX_OK;
    st = mp4_scan(x, w, from, memory, why);
    if (st != DEMUX_OK || x->seen[x->main] || !x->seen[DEMUX_AUDIO])
        return st;
    drop_empty(x);
    x->frags.n = 0;
    x->seen[DEMUX_AUDIO] = false;
    note_tables(x);
    return mp4_scan(x, w, from, memory, why);
}

static enum demux_status fill(struct mp4_index *x, struct mp4_window *w,
                              const struct demux_limits *limits, const char **why)
{
    struct mp4_top moov;
    enum demux_status st = find_moov(w, &moov, why);

    if (st == DEMUX_OK)
        st = read_moov(x, w, &moov, limits->index_max, why);
    if (st != DEMUX_OK)
        return st;
    mp4_moov_shrink(x);
    note_tables(x);
    if (x->fragmented || !x->seen[x->main])
        st = scan(x, w, moov.at + moov.size, limits->index_max - x->tables_size, why);
    if (st != DEMUX_OK)
        return st;
    drop_empty(x);
    *why = "nothing that can be played is in it";
    if (!x->seen[x->main])
        return DEMUX_BROKEN;
    find_zero(x);
    trim(&x->frags);
    describe(x);
    *why = "its index is too large";
    return x->head.info.memory > limits->index_max ? DEMUX_TOO_LARGE : DEMUX_OK;
}

static enum demux_status open_mp4(struct demux_index **out, const struct demux_input *in,
                                  const struct demux_limits *limits, const char **why)
{
    struct mp4_index *x = mem_try(sizeof(*x));
    struct mp4_window w;
    enum demux_status st;

    *out = NULL;
    *why = "there is no memory";
    if (!x)
        return DEMUX_NO_MEMORY;
    *x = (struct mp4_index){ .head = { .format = &demux_mp4 }, .file_size = in->size };
    if (!mp4_window_init(&w, in)) {
        free(x);
        return DEMUX_NO_MEMORY;
    }
    st = fill(x, &w, limits, why);
    mp4_window_fini(&w);
    if (st == DEMUX_OK)
        *out = &x->head;
    else
        close_mp4(&x->head);
    return st;
}

/* ------------------------------------------------------------ positions */

/* Fragments follow the samples of the tables. */
static demux_position seek_mp4(const struct demux_index *index, int64_t time)
{
    const struct mp4_index *x = (const struct mp4_index *)index;
    const struct mp4_trak *t = &x->tracks[x->main];

    if (time > TIME_MAX || time < 0)
        time = time < 0 ? 0 : TIME_MAX;
    if (x->frags.n > 0 &&
        (!has_tables(x) || mp4_moov_dts(t, x->frags.v[0].dts) + x->shift <= time))
        return mp4_fragments_seek(x, time);
    return mp4_progressive_seek(x, time);
}

static int64_t place_time_mp4(const struct demux_index *index, demux_position place, int64_t *pts)
{
    const struct mp4_index *x = (const struct mp4_index *)index;

    return place & MP4_PLACE_FRAG ? mp4_fragments_time(x, place, pts)
                                  : mp4_progressive_time(x, place, pts);
}

static enum demux_status group_mp4(struct demux_group **out, const struct demux_index *index,
                                   const struct demux_input *in, demux_position place,
                                   const char **why)
{
    const struct mp4_index *x = (const struct mp4_index *)index;
    enum demux_status st;

    if (place & MP4_PLACE_FRAG)
        return mp4_fragments_group(out, x, in, place, why);
    st = mp4_progressive_group(out, x, place, why);
    if (st == DEMUX_OK && (*out)->last && x->frags.n > 0) {
        (*out)->last = false;
        (*out)->next = MP4_PLACE_FRAG;
    }
    return st;
}

static bool packet_mp4(const struct demux_index *index, const struct demux_sample *s,
                       struct av_packet *pkt)
{
    const struct demux_track *t = &index->info.tracks[s->track];

    if (s->size > pkt->size)
        return false;
    pkt->kind = s->track == DEMUX_VIDEO ? AV_VIDEO : AV_AUDIO;
    pkt->codec = (uint8_t)t->codec;
    pkt->payload = pkt->size - s->size;
    pkt->key = s->key && s->track == DEMUX_VIDEO;
    pkt->config = s->config;
    pkt->dts = s->dts;
    pkt->cts = s->cts;
    return true;
}

const struct demux_format demux_mp4 = {
    .is = is_mp4, .open = open_mp4, .close = close_mp4, .seek = seek_mp4, .group = group_mp4,
    .place_time = place_time_mp4, .packet = packet_mp4,
};
