/* SPDX-License-Identifier: MIT */
/* mp4_fragments.c - groups of a file of fragments.
 *
 * A place is an entry, and how many samples of its group were sent already: one that is too long
 * goes on. What is in a group is said by the moofs between its entry and the next one, which are
 * read again; where an entry is amid a moof, the main track is cut by number, the other by time. */
#include "base/mem.h"
#include "format/demux/mp4.h"

#include <stdlib.h>

enum { SIDE_MAX = 1 << 15, WALK_MAX = 1 << 20, PART_FIRST = 128 };

struct side {
    struct demux_sample *v;
    unsigned n, cap;
};

struct gather {
    const struct mp4_index *x;
    const struct mp4_entry *from, *to; /* to: NULL, the end of the file */
    struct side sides[DEMUX_TRACKS];
    bool key;      /* pictures before the first key are left out */
    int64_t walked;
};

static int64_t time_of(const struct mp4_index *x, const struct mp4_entry *e)
{
    return mp4_moov_dts(&x->tracks[x->main], e->dts) + x->shift;
}

demux_place mp4_fragments_seek(const struct mp4_index *x, int64_t time)
{
    const struct mp4_trak *t = &x->tracks[x->main];
    const struct mp4_entry *v = x->frags.v;
    uint32_t low = 0, high = x->frags.n;

    while (low < high) { /* the first one behind that */
        uint32_t middle = low + (high - low) / 2;

        if (time_of(x, &v[middle]) <= time)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 1 && (!v[low - 1].starts ||
                       time_of(x, &v[low - 1]) + mp4_moov_cts(t, v[low - 1].dts, v[low - 1].late) >
                           time))
        low--;
    return MP4_PLACE_FRAG | (demux_place)(low > 0 ? low - 1 : 0) << 32;
}

int64_t mp4_fragments_time(const struct mp4_index *x, demux_place place, int64_t *pts)
{
    const struct mp4_trak *t = &x->tracks[x->main];
    uint32_t entry = (uint32_t)(place >> 32) & INT32_MAX;
    const struct mp4_entry *e = &x->frags.v[entry < x->frags.n ? entry : x->frags.n - 1];
    int64_t dts = time_of(x, e);

    *pts = dts + (t->video ? mp4_moov_cts(t, e->dts, e->late) : 0);
    return dts;
}

/* ------------------------------------------------------------ the samples between two entries */

static bool push(struct side *s, const struct demux_sample *sample)
{
    if (s->n == s->cap) {
        unsigned cap = s->cap ? s->cap * 2 : PART_FIRST;
        struct demux_sample *v = mem_try_more(s->v, cap * sizeof(v[0]));

        if (!v)
            return false;
        s->v = v;
        s->cap = cap;
    }
    s->v[s->n++] = *sample;
    return true;
}

/* Is it behind the begin and before the end of the group? */
static bool is_between(const struct gather *g, int64_t moof, const struct mp4_moof_sample *m,
                       int64_t time)
{
    bool main = m->track == g->x->main;

    if (moof == g->from->at && g->from->number > 0 &&
        (main ? m->number < g->from->number : time < time_of(g->x, g->from)))
        return false;
    if (g->to && moof == g->to->at &&
        (main ? m->number >= g->to->number : time >= time_of(g->x, g->to)))
        return false;
    return true;
}

static bool take(struct gather *g, int64_t moof, const struct mp4_moof_sample *m)
{
    const struct mp4_trak *t = &g->x->tracks[m->track];
    struct side *side = &g->sides[m->track];
    struct demux_sample out = { .at = m->at, .size = m->size, .track = m->track, .key = m->key };

    out.dts = mp4_moov_dts(t, m->dts) + g->x->shift;
    if (!is_between(g, moof, m, out.dts) || m->size > DEMUX_SAMPLE_MAX || side->n >= SIDE_MAX)
        return true;
    if (t->video) {
        out.key |= !g->key && g->x->frags.keyless;
        g->key |= out.key;
        if (!g->key)
            return true;
        out.cts = mp4_moov_cts(t, m->dts, m->offset);
    }
    if (out.dts < 0) /* what an index at the end of the file did not say */
        out.dts = 0;
    return push(side, &out);
}

/* *more: moofs may follow. */
static enum demux_status take_moof(struct gather *g, struct mp4_window *w, struct mp4_moof *walk,
                                   const struct mp4_top *b)
{
    struct mp4_moof_sample m;
    enum demux_status st;
    const uint8_t *p = mp4_window_get(w, b->at, (size_t)b->size, &st);

    if (!p)
        return st;
    mp4_moof_begin(walk, g->x, rd_init(p + b->head, (size_t)b->size - b->head), b->at,
                   g->x->file_size);
    while (g->walked < WALK_MAX && mp4_moof_next(walk, &m)) {
        g->walked++;
        if (!take(g, b->at, &m))
            return DEMUX_NO_MEMORY;
    }
    return DEMUX_OK;
}

static enum demux_status walk(struct gather *g, struct mp4_window *w)
{
    int64_t stop = !g->to ? g->x->frags.end : g->to->number > 0 ? g->to->at + 1 : g->to->at;
    struct mp4_top b = { .at = g->from->at };
    enum demux_status st = DEMUX_OK;
    struct mp4_moof m;

    for (int i = 0; i < DEMUX_TRACKS; i++) {
        m.last[i] = g->from->last[i];
        m.lasts[i] = g->from->lasts[i];
    }
    while (st == DEMUX_OK && b.at < stop && g->walked < WALK_MAX) {
        st = mp4_window_box(w, b.at, &b);
        if (st == DEMUX_OK && b.type == MP4_TYPE('m', 'o', 'o', 'f')) {
            if (b.cut || b.size > MP4_MOOF_MAX)
                return DEMUX_BROKEN;
            st = take_moof(g, w, &m, &b);
        }
        b.at += b.size;
        g->walked++; /* boxes of other kinds as well */
    }
    return st == DEMUX_END ? DEMUX_BROKEN : st;
}

/* ------------------------------------------------------------ a group of them */

/* So many of both in the order of time, from `skip` on. */
static bool merge(const struct gather *g, struct demux_list *list, unsigned skip)
{
    const struct side *s = g->sides;
    unsigned at[DEMUX_TRACKS] = { 0 }, end = skip + DEMUX_GROUP_MAX;

    for (unsigned i = 0; i < s[0].n + s[1].n && i < end; i++) {
        bool video = at[1] == s[1].n || (at[0] < s[0].n && s[0].v[at[0]].dts <= s[1].v[at[1]].dts);
        int track = video ? DEMUX_VIDEO : DEMUX_AUDIO;
        const struct demux_sample *from = &s[track].v[at[track]++];

        if (i >= skip && !demux_list_add(list, from))
            return false;
    }
    return true;
}

/* Of what a list says, not all was looked at. */
static bool begins(const struct gather *g)
{
    const struct side *s = &g->sides[g->x->main];

    return s->n == 0 || s->v[0].key;
}

static struct demux_group *make(const struct gather *g, demux_place place)
{
    uint32_t entry = (uint32_t)(place >> 32) & INT32_MAX, skip = (uint32_t)place;
    struct demux_list list = { 0 };
    struct demux_group *group = NULL;

    if (merge(g, &list, skip))
        group = demux_list_take(&list, place);
    demux_list_drop(&list);
    if (!group)
        return NULL;
    group->starts = skip == 0 && g->from->starts && begins(g);
    if (skip + group->n < g->sides[0].n + g->sides[1].n) {
        group->next = place + group->n;
        return group;
    }
    group->next = MP4_PLACE_FRAG | (demux_place)(entry + 1) << 32;
    group->last = entry + 1 == g->x->frags.n;
    return group;
}

enum demux_status mp4_fragments_group(struct demux_group **out, const struct mp4_index *x,
                                      const struct demux_input *in, demux_place place,
                                      const char **why)
{
    uint32_t entry = (uint32_t)(place >> 32) & INT32_MAX;
    struct gather g = { .x = x };
    struct mp4_window w;
    enum demux_status st;

    *why = "there is no such place";
    if (entry >= x->frags.n || (uint32_t)place > 2 * SIDE_MAX)
        return DEMUX_END;
    g.from = &x->frags.v[entry];
    g.to = entry + 1 < x->frags.n ? &x->frags.v[entry + 1] : NULL;
    g.key = entry > 0;
    *why = "there is no memory";
    if (!mp4_window_init(&w, in))
        return DEMUX_NO_MEMORY;
    st = walk(&g, &w);
    if (st == DEMUX_OK) {
        *out = make(&g, place);
        st = *out ? DEMUX_OK : DEMUX_NO_MEMORY;
    } else {
        *why = "it became shorter, or is damaged";
    }
    free(g.sides[0].v);
    free(g.sides[1].v);
    mp4_window_fini(&w);
    return st;
}
