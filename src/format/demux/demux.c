/* SPDX-License-Identifier: MIT */
/* demux.c - files of MP4 and FLV: which of them a file is, its bytes say. */
#include "format/demux/impl.h"

#include <stdlib.h>

static const struct demux_format *const formats[] = { &demux_flv, &demux_mp4 };

enum { FORMATS = sizeof(formats) / sizeof(formats[0]), LIST_FIRST = 64 };

enum demux_status demux_read(const struct demux_input *in, int64_t at, void *buf, size_t size)
{
    ssize_t n = in->read(in, at, buf, size);

    if (n == -1)
        return DEMUX_AGAIN;
    if (n < 0)
        return DEMUX_IO;
    return (size_t)n == size ? DEMUX_OK : DEMUX_BROKEN;
}

enum demux_status demux_open(struct demux_index **out, const struct demux_input *in,
                             const struct demux_limits *limits, const char **why)
{
    uint8_t begin[DEMUX_BEGIN];
    size_t n = in->size < DEMUX_BEGIN ? (size_t)in->size : DEMUX_BEGIN;
    enum demux_status st = demux_read(in, 0, begin, n);

    *out = NULL;
    *why = "it cannot be read";
    if (st != DEMUX_OK)
        return st;
    for (unsigned i = 0; i < FORMATS; i++) {
        if (formats[i]->is(begin, n))
            return formats[i]->open(out, in, limits, why);
    }
    *why = "it is neither MP4 nor FLV";
    return DEMUX_BROKEN;
}

void demux_close(struct demux_index *index)
{
    if (index)
        index->format->close(index);
}

const struct demux_info *demux_info(const struct demux_index *index)
{
    return &index->info;
}

demux_place demux_seek(const struct demux_index *index, int64_t time)
{
    return index->format->seek(index, time);
}

int64_t demux_place_time(const struct demux_index *index, demux_place place, int64_t *pts)
{
    return index->format->place_time(index, place, pts);
}

enum demux_status demux_group(struct demux_group **out, const struct demux_index *index,
                              const struct demux_input *in, demux_place place, const char **why)
{
    *out = NULL;
    *why = "its place cannot be read";
    return index->format->group(out, index, in, place, why);
}

bool demux_packet(const struct demux_index *index, const struct demux_sample *s,
                  struct av_packet *pkt)
{
    return index->format->packet(index, s, pkt);
}

/* ------------------------------------------------------------ a group that is filled */

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
