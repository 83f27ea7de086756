/* SPDX-License-Identifier: MIT */
/* list.c - what the readers of all formats share: reading bytes, filling a group. */
#include "format/demux/impl.h"

#include <stdlib.h>

enum { LIST_FIRST = 64 };

enum demux_status demux_read(const struct demux_input *in, int64_t at, void *buf, size_t size)
{
    ssize_t n = in->read(in, at, buf, size);

    if (n == -1)
        return DEMUX_AGAIN;
    if (n < 0)
        return DEMUX_IO;
    return (size_t)n == size ? DEMUX_OK : DEMUX_BROKEN;
}

static bool make_room(struct demux_list *l, unsigned cap)
{
    struct demux_group *g = realloc(l->group, sizeof(*g) + cap * sizeof(g->v[0]));

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
    if (l->group && l->group->n == DEMUX_GROUP_MAX)
        return false;
    if ((!l->group || l->group->n == l->cap) &&
        !make_room(l, l->group && l->cap > 0 ? l->cap * 2 : LIST_FIRST))
        return false;
    l->group->v[l->group->n++] = *s;
    return true;
}

struct demux_group *demux_list_take(struct demux_list *l, demux_place place)
{
    struct demux_group *g;

    if (!l->group && !make_room(l, 0))
        return NULL;
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
