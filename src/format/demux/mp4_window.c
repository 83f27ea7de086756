/* SPDX-License-Identifier: MIT */
/* mp4_window.c - boxes, [ISO-FF] 4.2: in memory, and top-level boxes of the file, which are read in
 * few large pieces, or in small ones if boxes are far apart. */
#include "base/mem.h"
#include "format/demux/mp4.h"

#include <stdlib.h>

enum { WINDOW = 64 * 1024, GLANCE = 4096, LEAST = 512, HEAD = 16, NEAR = 16 * 1024 };

bool mp4_tree_next(struct rd *in, struct mp4_node *b)
{
    const uint8_t *begin = in->p;
    uint64_t size;

    if (in->bad || rd_left(in) < 8)
        return false;
    size = rd_u32(in);
    b->type = rd_u32(in);
    if (size == 1)
        size = rd_u64(in);
    else if (size == 0)
        size = (uint64_t)(in->end - begin);
    if (in->bad || size < (uint64_t)(in->p - begin) || size > (uint64_t)(in->end - begin))
        return false;
    b->body = rd_sub(in, (size_t)(size - (uint64_t)(in->p - begin)));
    return true;
}

struct rd mp4_tree_find(struct rd in, uint32_t type)
{
    struct mp4_node b;

    while (mp4_tree_next(&in, &b)) {
        if (b.type == type)
            return b.body;
    }
    return (struct rd){ .bad = true };
}

/* ------------------------------------------------------------ boxes of the file */

bool mp4_window_init(struct mp4_window *w, const struct demux_input *in)
{
    *w = (struct mp4_window){ .in = in, .buf = mem_try(WINDOW), .cap = WINDOW,
                              .usual = GLANCE };
    return w->buf != NULL;
}

void mp4_window_fini(struct mp4_window *w)
{
    free(w->buf);
}

/* Returns the number of bytes to read: enough for the next box, or many boxes at once if they are
 * near each other. */
static size_t how_much(const struct mp4_window *w, int64_t at, size_t size)
{
    bool near = w->have > 0 && at >= w->at && at - w->at < (int64_t)w->have + NEAR;
    size_t n = near || w->usual > WINDOW ? WINDOW : w->usual < LEAST ? LEAST : w->usual;

    if (n < size)
        n = size;
    return (int64_t)n > w->in->size - at ? (size_t)(w->in->size - at) : n;
}

const uint8_t *mp4_window_get(struct mp4_window *w, int64_t at, size_t size,
                              enum demux_status *st)
{
    size_t n;

    *st = DEMUX_BROKEN;
    if (at < 0 || at > w->in->size || (int64_t)size > w->in->size - at)
        return NULL;
    if (size > HEAD)
        w->usual = size + size / 4;
    if (w->have > 0 && at >= w->at && at + (int64_t)size <= w->at + (int64_t)w->have)
        return w->buf + (at - w->at);
    if (size > w->cap) {
        uint8_t *more = mem_try(size);

        *st = DEMUX_NO_MEMORY;
        if (!more)
            return NULL;
        free(w->buf);
        w->buf = more;
        w->cap = size;
    }
    n = how_much(w, at, size);
    w->have = 0;
    *st = w->in->read(w->in, at, w->buf, n);
    if (*st != DEMUX_OK)
        return NULL;
    w->at = at;
    w->have = n;
    return w->buf;
}

enum demux_status mp4_window_box(struct mp4_window *w, int64_t at, struct mp4_top *b)
{
    int64_t left = w->in->size - at;
    enum demux_status st;
    const uint8_t *p;
    uint64_t size;

    if (left < 8)
        return DEMUX_END;
    p = mp4_window_get(w, at, left < 16 ? 8 : 16, &st);
    if (!p)
        return st;
    size = mp4_be32(p);
    *b = (struct mp4_top){ .type = mp4_be32(p + 4), .at = at, .head = size == 1 ? 16 : 8 };
    if (size == 1 && left < 16)
        return DEMUX_END;
    if (size == 1)
        size = (uint64_t)mp4_be32(p + 8) << 32 | mp4_be32(p + 12);
    else if (size == 0)
        size = (uint64_t)left;
    if (size < b->head)
        return DEMUX_BROKEN;
    b->cut = size > (uint64_t)left;
    b->size = b->cut ? left : (int64_t)size;
    return DEMUX_OK;
}
