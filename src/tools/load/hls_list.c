/* SPDX-License-Identifier: MIT */
/* hls_list.c - a playlist as a player looks at it. */
#include "tools/load/hls.h"

#include <stdlib.h>
#include <string.h>

enum { CLOCK = 90000, HOLD_BACK = 3 /* target durations, [HLS] 6.3.3 */ };

struct reading {
    struct m3u8_reader r;
    struct load_hls_list *l;
    bool plain;
    size_t room;
    uint64_t segment;      /* that is being listed */
    int parts;             /* of it so far */
    int64_t offset;        /* of the next one from its begin, 1/90000 s */
    int64_t wall;          /* of what comes, carried on from the last that was told */
    unsigned bandwidth;
};

static err_t add(struct reading *g, const struct load_hls_unit *u)
{
    struct load_hls_list *l = g->l;

    if (l->n == g->room) {
        size_t room = g->room ? g->room * 2 : 32;
        struct load_hls_unit *more = room > LOAD_HLS_UNITS
                                          ? NULL : realloc(l->units, room * sizeof(*more));

        if (!more)
            return err_new(ERR_TOO_MANY, "over %d segments or parts in a list", LOAD_HLS_UNITS);
        l->units = more;
        g->room = room;
    }
    l->units[l->n++] = *u;
    return NULL;
}

static struct load_hls_unit unit(const struct reading *g)
{
    int64_t wall = g->r.segment.wall ? g->r.segment.wall : g->wall;

    return (struct load_hls_unit){
        .at = { g->segment, g->parts }, .gap = g->r.segment.gap,
        .wall = wall ? wall + g->offset / (CLOCK / 1000) : 0,
        .uri = g->r.uri, .map = g->r.map, .key = g->r.key,
    };
}

static err_t on_part(struct reading *g)
{
    struct load_hls_unit u = unit(g);

    if (g->plain)
        return NULL;
    u.duration = g->r.part.duration;
    u.independent = g->r.part.independent;
    g->offset += u.duration;
    g->parts++;
    return add(g, &u);
}

/* Its parts stand for it, if there are any. */
static err_t on_segment(struct reading *g)
{
    struct load_hls_unit u;
    int64_t wall = g->r.segment.wall ? g->r.segment.wall : g->wall;
    err_t err = NULL;

    if (g->parts == 0) {
        g->offset = 0;
        u = unit(g);
        u.whole = u.independent = true;
        u.duration = g->r.segment.duration;
        err = add(g, &u);
    }
    g->wall = wall ? wall + g->r.segment.duration / (CLOCK / 1000) : 0;
    g->segment++;
    g->parts = 0;
    g->offset = 0;
    return err;
}

static err_t on_item(struct reading *g, enum m3u8_item item)
{
    switch (item) {
    case M3U8_PART:
        return on_part(g);
    case M3U8_HINT:
        if (!g->plain)
            g->l->hint = g->r.uri;
        return NULL;
    case M3U8_VARIANT:
        if (!g->l->variant.p || g->r.bandwidth > g->bandwidth) {
            g->l->variant = g->r.uri;
            g->bandwidth = g->r.bandwidth;
        }
        return NULL;
    default:
        return on_segment(g);
    }
}

/* The tags of the head may stand anywhere: what depends on them comes last. */
static void finish(struct reading *g)
{
    struct load_hls_list *l = g->l;
    const struct m3u8_reader *r = &g->r;

    l->over = r->over;
    l->target = r->list.target ? r->list.target : 1;
    l->end = (struct load_hls_place){ g->segment, g->parts };
    l->parts = !g->plain && r->can_block && r->list.part_target > 0;
    if (l->parts)
        l->hold_back = r->part_hold_back ? r->part_hold_back : HOLD_BACK * r->list.part_target;
    else
        l->hold_back = r->hold_back ? r->hold_back : (int64_t)HOLD_BACK * l->target * CLOCK;
    l->skip_until = l->parts ? r->list.skip_until : 0;
    for (size_t i = 0; i < l->n; i++)
        l->units[i].at.segment += r->list.sequence + r->list.skipped;
    l->end.segment += r->list.sequence + r->list.skipped;
}

err_t load_hls_list_parse(struct load_hls_list *l, const char *text, size_t size, bool plain)
{
    struct reading g = { .l = l, .plain = plain };
    enum m3u8_item item;
    err_t err = m3u8_open(&g.r, text, size);

    *l = (struct load_hls_list){ 0 };
    while (!err && (item = m3u8_item(&g.r)) != M3U8_END)
        err = on_item(&g, item);
    if (err) {
        load_hls_list_free(l);
        return err;
    }
    finish(&g);
    return NULL;
}

void load_hls_list_free(struct load_hls_list *l)
{
    free(l->units);
    *l = (struct load_hls_list){ 0 };
}

static bool is_before(struct load_hls_place a, struct load_hls_place b)
{
    return a.segment < b.segment || (a.segment == b.segment && a.part < b.part);
}

size_t load_hls_list_find(const struct load_hls_list *l, struct load_hls_place at)
{
    size_t i = 0;

    while (i < l->n && is_before(l->units[i].at, at))
        i++;
    return i;
}

bool load_hls_list_follows(const struct load_hls_list *l, size_t i, struct load_hls_place at)
{
    struct load_hls_place is = l->units[i].at;

    if (is.segment == at.segment && is.part == at.part)
        return true;
    /* the last part of a segment was played, if it is the one listed before */
    return is.segment == at.segment + 1 && is.part == 0 && at.part > 0 && i > 0 &&
           l->units[i - 1].at.segment == at.segment && l->units[i - 1].at.part == at.part - 1;
}

struct load_hls_place load_hls_list_after(const struct load_hls_unit *u)
{
    if (u->whole)
        return (struct load_hls_place){ u->at.segment + 1, 0 };
    return (struct load_hls_place){ u->at.segment, u->at.part + 1 };
}

size_t load_hls_list_start(const struct load_hls_list *l, int64_t hold_back)
{
    int64_t left = 0;
    size_t i = l->n;

    while (i > 0 && left < hold_back)
        left += l->units[--i].duration;
    while (i > 0 && !l->units[i].independent)
        i--;
    return i;
}

int64_t load_hls_list_left(const struct load_hls_list *l, size_t i)
{
    int64_t left = 0;

    for (; i < l->n; i++)
        left += l->units[i].duration;
    return left;
}
