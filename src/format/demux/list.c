/* SPDX-License-Identifier: MIT */
/* list.c - a group under construction, and the order of its samples. */
#include "base/mem.h"
#include "format/demux/impl.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_FIRST = 64 };

static bool make_room(struct demux_list *l, unsigned cap)
{
    struct demux_group *g = mem_try_more(l->group, sizeof(*g) + cap * sizeof(g->v[0]));

    if (!g)
        return false;
    if (!l->group)
        *g = (struct demux_group){ 0 };
    l->group = g;
    l->cap = cap;
    return true;
}

bool demux_list_expect(struct demux_list *l, unsigned n)
{
    return l->group || make_room(l, n < DEMUX_GROUP_MAX ? n : DEMUX_GROUP_MAX);
}

bool demux_list_add(struct demux_list *l, const struct demux_sample *s)
{
    if ((!l->group || l->group->n == l->cap) &&
        !make_room(l, l->group && l->cap > 0 ? l->cap * 2 : LIST_FIRST))
        return false;
    l->group->v[l->group->n++] = *s;
    return true;
}

static bool in_order(const struct demux_group *g)
{
    for (unsigned i = 1; i < g->n; i++) {
        const struct demux_sample *a = &g->v[i - 1], *b = &g->v[i];

        if (a->dts > b->dts || (a->dts == b->dts && a->track > b->track))
            return false;
    }
    return true;
}

static const struct demux_sample *next_of(const struct demux_sample *v,
                                          const struct demux_sample *to, unsigned track)
{
    while (v < to && v->track != track)
        v++;
    return v < to ? v : NULL;
}

/* Merges both tracks, which are each in order. */
static bool put_in_order(struct demux_group *g)
{
    size_t size = g->n * sizeof(g->v[0]);
    const struct demux_sample *end, *v, *a;
    struct demux_sample *copy;

    if (in_order(g))
        return true;
    copy = mem_try(size);
    if (!copy)
        return false;
    memcpy(copy, g->v, size);
    end = copy + g->n;
    v = next_of(copy, end, DEMUX_VIDEO);
    a = next_of(copy, end, DEMUX_AUDIO);
    for (unsigned i = 0; i < g->n; i++) {
        if (v && (!a || v->dts <= a->dts)) {
            g->v[i] = *v;
            v = next_of(v + 1, end, DEMUX_VIDEO);
        } else {
            g->v[i] = *a;
            a = next_of(a + 1, end, DEMUX_AUDIO);
        }
    }
    free(copy);
    return true;
}

struct demux_group *demux_list_take(struct demux_list *l, demux_position place)
{
    struct demux_group *g;

    if ((!l->group && !make_room(l, 0)) || !put_in_order(l->group)) {
        demux_list_drop(l);
        return NULL;
    }
    g = l->group;
    l->group = NULL;
    g->place = place;
    return g;
}

void demux_list_drop(struct demux_list *l)
{
    free(l->group);
    l->group = NULL;
}
