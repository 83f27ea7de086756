/* SPDX-License-Identifier: MIT */
/* mp4_fragments.c - groups of a fragmented file.
 *
 * A position is an entry, and the number of samples of its group that earlier positions have, since
 * a long group is divided. The samples come from the moofs between an entry and the next one, which
 * are read again. If an entry is in the middle of a moof, the main track is divided by sample
 * number and the other track by time. */
#include "format/demux/mp4.h"

#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 1 << 16, WALK_MAX = 1 << 20 };

struct collect {
    const struct mp4_index *x;
    const struct mp4_entry *from, *to; /* to: NULL, the end of the file */
    struct demux_list list;
    bool key;      /* video before the first key frame is skipped */
    int64_t walked;
};

static int64_t time_of(const struct mp4_index *x, const struct mp4_entry *e)
{
    return mp4_moov_dts(&x->tracks[x->main], e->dts) + x->shift;
}

demux_position mp4_fragments_seek(const struct mp4_index *x, int64_t time)
{
    const struct mp4_trak *t = &x->tracks[x->main];
    const struct mp4_entry *v = x->frags.v;
    uint32_t low = 0, high = x->frags.n;

    while (low < high) { /* the first entry after it */
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
    return MP4_PLACE_FRAG | (demux_position)(low > 0 ? low - 1 : 0) << 32;
}

int64_t mp4_fragments_time(const struct mp4_index *x, demux_position place, int64_t *pts)
{
    const struct mp4_trak *t = &x->tracks[x->main];
    uint32_t entry = (uint32_t)(place >> 32) & INT32_MAX;
    const struct mp4_entry *e = &x->frags.v[entry < x->frags.n ? entry : x->frags.n - 1];
    int64_t dts = time_of(x, e);

    *pts = dts + (t->video ? mp4_moov_cts(t, e->dts, e->late) : 0);
    return dts;
}

/* ------------------------------------------------------------ the samples between two entries */

/* True if the sample is between the start and the end of the group. */
static bool is_between(const struct collect *g, int64_t moof, const struct mp4_moof_sample *m,
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

static bool take(struct collect *g, int64_t moof, const struct mp4_moof_sample *m)
{
    const struct mp4_trak *t = &g->x->tracks[m->track];
    const struct demux_group *group = g->list.group;
    struct demux_sample out = { .at = m->at, .size = m->size, .track = m->track, .key = m->key };

    out.dts = mp4_moov_dts(t, m->dts) + g->x->shift;
    if (!is_between(g, moof, m, out.dts) || m->size > DEMUX_SAMPLE_MAX ||
        (group && group->n >= SAMPLES_MAX))
        return true;
    if (t->video) {
        out.key |= !g->key && g->x->frags.keyless;
        g->key |= out.key;
        if (!g->key)
            return true;
        out.cts = mp4_moov_cts(t, m->dts, m->offset);
    }
    if (out.dts < 0) /* unknown to an index at the end of the file */
        out.dts = 0;
    return demux_list_add(&g->list, &out);
}

static enum demux_status walk(struct collect *g, struct mp4_window *w)
{
    int64_t stop = !g->to ? g->x->frags.end : g->to->number > 0 ? g->to->at + 1 : g->to->at;
    struct mp4_top b = { .at = g->from->at };
    enum demux_status st = DEMUX_OK;
    struct mp4_moof_sample s;
    struct mp4_moof m;

    for (int i = 0; i < DEMUX_TRACKS; i++) {
        m.last[i] = g->from->last[i];
        m.lasts[i] = g->from->lasts[i];
    }
    while (st == DEMUX_OK && b.at < stop && g->walked++ < WALK_MAX) {
        st = mp4_moof_open(&m, g->x, w, &b);
        while (st == DEMUX_OK && g->walked++ < WALK_MAX && mp4_moof_next(&m, &s))
            st = take(g, b.at, &s) ? DEMUX_OK : DEMUX_NO_MEMORY;
        b.at += b.size;
    }
    return st == DEMUX_END ? DEMUX_BROKEN : st;
}

/* ------------------------------------------------------------ a group */

/* Checks that the group starts with a key frame: entries from a list are not all verified. */
static bool begins(const struct collect *g, const struct demux_group *group)
{
    unsigned i = 0;

    while (i < group->n && group->v[i].track != g->x->main)
        i++;
    return i == group->n || group->v[i].key;
}

/* Makes the group from the samples of both tracks after the first `skip`, ordered by time. */
static struct demux_group *make(struct collect *g, demux_position place)
{
    uint32_t entry = (uint32_t)(place >> 32) & INT32_MAX, skip = (uint32_t)place;
    struct demux_group *group = demux_list_take(&g->list, place), *less;

    if (!group)
        return NULL;
    group->starts = skip == 0 && g->from->starts && begins(g, group);
    skip = skip < group->n ? skip : group->n;
    group->n -= skip;
    if (group->n > DEMUX_GROUP_MAX) {
        group->n = DEMUX_GROUP_MAX;
        group->next = place + group->n;
    } else {
        group->next = MP4_PLACE_FRAG | (demux_position)(entry + 1) << 32;
        group->last = entry + 1 == g->x->frags.n;
    }
    memmove(group->v, group->v + skip, group->n * sizeof(group->v[0]));
    less = realloc(group, sizeof(*group) + group->n * sizeof(group->v[0]));
    return less ? less : group;
}

enum demux_status mp4_fragments_group(struct demux_group **out, const struct mp4_index *x,
                                      const struct demux_input *in, demux_position place,
                                      const char **why)
{
    uint32_t entry = (uint32_t)(place >> 32) & INT32_MAX;
    struct collect g = { .x = x };
    struct mp4_window w;
    enum demux_status st;

    *why = "there is no such place";
    if (entry >= x->frags.n || (uint32_t)place > SAMPLES_MAX)
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
    demux_list_drop(&g.list);
    mp4_window_fini(&w);
    return st;
}
