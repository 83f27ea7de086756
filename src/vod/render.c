/* SPDX-License-Identifier: MIT */
/* render.c - renders the bytes of a part: a wire converts the samples that were read. */
#include "base/mem.h"
#include "base/must.h"
#include "base/region.h"
#include "vod/store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The limit for the bytes of a part: its samples, EACH per sample, and MORE. */
enum { EACH = 256, MORE = 64 * 1024 };

enum { BLOCK = 128 * 1024 };

static void make_packet(const struct vod_file *f, const struct vod_slot *slot,
                        const struct vod_wire_use *use, void *state, struct wr *w)
{
    struct av_packet *pkt = slot->pkt;

    memset(pkt, 0, sizeof(*pkt));
    ref_init(&pkt->ref);
    pkt->size = slot->s->size;
    if (demux_packet(f->index->demux, slot->s, pkt))
        use->wire->make(state, pkt, w);
}

/* Marks the end of a frame. Bytes without a frame belong to the next frame; at the end of a part,
 * to the last one. */
static void mark(struct vod_cached *one, const struct vod_slot *slot, size_t end)
{
    const struct demux_sample *s = slot->s;
    struct vod_mark *last = one->part.n ? &one->marks[one->part.n - 1] : NULL;
    int64_t dts = last && last->dts > s->dts ? last->dts : s->dts;

    if (!s->config && end > (last ? last->end : 0))
        one->marks[one->part.n++] = (struct vod_mark){ dts, slot->pkt->cts, (uint32_t)end };
}

static void mark_rest(struct vod_cached *one, const struct demux_sample *s, size_t end)
{
    if (one->part.n > 0)
        one->marks[one->part.n - 1].end = (uint32_t)end;
    else if (end > 0)
        one->marks[one->part.n++] = (struct vod_mark){ s->dts, 0, (uint32_t)end };
}

static void make_all(struct vod_cached *one, const struct vod_pack *pack, struct wr *w)
{
    const struct vod_file *f = one->file;
    void *state = one->use.wire->open(&one->use, demux_info(f->index->demux), one->part.starts,
                                      &one->part.begin);

    for (unsigned i = 0; i < pack->n; i++) {
        make_packet(f, &pack->slots[i], &one->use, state, w);
        mark(one, &pack->slots[i], w->len);
    }
    mark_rest(one, pack->slots[pack->n - 1].s, w->len);
    one->use.wire->close(state, &one->part.end);
    for (unsigned i = 0; i < pack->n; i++) {
        const struct demux_sample *s = pack->slots[i].s;

        assert(pack->slots[i].pkt->ref.n == 1); /* its data is in the pack's buffer */
        if (s->at + s->size > one->ends[s->track])
            one->ends[s->track] = s->at + s->size;
    }
}

static void describe(struct vod_cached *one, const struct demux_group *g,
                     const struct vod_cut *cut)
{
    struct vod_part *p = &one->part;
    int64_t pts;

    p->last = g->last && cut->last;
    p->starts = g->starts && one->at.part == 0;
    p->next = cut->last ? (struct vod_at){ .place = g->next }
                        : (struct vod_at){ .place = g->place, .part = one->at.part + 1 };
    if (cut->begin < g->n)
        p->dts = g->v[cut->begin].dts;
    else if (g->n > 0)
        p->dts = g->v[g->n - 1].dts;
    else if (g->starts)
        p->dts = demux_position_time(one->file->index->demux, g->place, &pts);
    if (cut->end < g->n)
        p->next_dts = g->v[cut->end].dts;
    else
        p->next_dts = g->n > 0 ? vod_group_end(g) : p->dts;
}

/* ---- memory of a part: a reused block while it is rendered and sent, so that it stays in the
 * processor's caches; a copy of its exact size if it is kept */

static struct vod_cached *begin_block(size_t marks, size_t need, struct wr *w)
{
    size_t head = sizeof(struct vod_cached) + marks;
    struct vod_cached *one = head + need <= BLOCK ? region_take(BLOCK) : NULL;

    if (!one)
        return NULL;
    one->block = BLOCK;
    *w = (struct wr){ .buf = (uint8_t *)one + head, .cap = BLOCK - head, .limit = BLOCK - head };
    return one;
}

static struct vod_cached *begin_apart(size_t marks, size_t need, size_t most, struct wr *w)
{
    struct vod_cached *one = must(malloc(sizeof(*one) + marks));

    one->block = 0;
    wr_init(w, most);
    (void)wr_reserve(w, need);
    return one;
}

static void own_bytes(struct vod_cached *one, struct wr *w)
{
    uint8_t *less = w->len ? realloc(w->buf, w->len) : NULL;

    if (!w->len)
        wr_free(w);
    one->own = less ? less : w->buf;
    one->part.data = one->own;
}

void vod_rendered_free(struct vod_cached *one)
{
    free(one->own);
    if (one->block)
        region_give(one, one->block);
    else
        free(one);
}

struct vod_cached *vod_rendered_fit(struct vod_cached *one)
{
    size_t head = sizeof(*one) + one->part.n * sizeof(struct vod_mark);
    struct vod_cached *fit = one->block ? mem_try(head + one->part.size) : NULL;
    uint8_t *data;

    if (!fit)
        return one;
    data = (uint8_t *)fit + head;
    memcpy(fit, one, head);
    memcpy(data, one->part.data, one->part.size);
    fit->part.data = data;
    fit->part.marks = fit->marks;
    fit->block = 0;
    fit->bytes = head + fit->part.size;
    vod_rendered_free(one);
    return fit;
}

/* ---- rendering */

struct what { /* the part to render */
    struct vod_file *file;
    const struct vod_wire_use *use;
    const struct vod_at *at;
    const struct vod_numbers *from;
    const struct demux_group *g;
    const struct vod_cut *cut;
    const struct vod_pack *pack;
};

static bool fill(const struct what *x, struct vod_cached *one, struct wr *w)
{
    size_t block = one->block;

    *one = (struct vod_cached){ .file = x->file, .use = *x->use, .at = *x->at, .refs = 1,
                                .block = block };
    one->part.marks = one->marks;
    one->part.begin = *x->from;
    one->part.end = *x->from;
    describe(one, x->g, x->cut);
    if (x->cut->n > 0)
        make_all(one, x->pack, w);
    one->part.data = w->buf;
    one->part.size = w->len;
    if (one->part.n > 0)
        one->part.dts = one->marks[0].dts;
    return !w->bad;
}

static struct vod_cached *make(const struct what *x)
{
    size_t marks = x->pack->n * sizeof(struct vod_mark), bytes = x->cut->bytes;
    size_t need = bytes + bytes / 16 + x->cut->n * 64 + 1024;
    struct wr w;
    struct vod_cached *one = begin_block(marks, need, &w);

    if (one && fill(x, one, &w)) {
        one->bytes = BLOCK;
        return one;
    }
    if (one)
        vod_rendered_free(one);
    one = begin_apart(marks, need, 2 * bytes + x->cut->n * EACH + MORE, &w);
    if (!fill(x, one, &w)) {
        wr_free(&w);
        vod_rendered_free(one);
        return NULL;
    }
    own_bytes(one, &w);
    one->bytes = sizeof(*one) + marks + w.len;
    return one;
}

struct vod_cached *vod_render(struct vod_file *f, const struct vod_wire_use *use,
                              const struct vod_at *at, const struct vod_numbers *from,
                              const struct demux_group *g, const struct vod_cut *cut,
                              const struct vod_pack *pack)
{
    const struct what x = { f, use, at, from, g, cut, pack };
    struct vod_cached *one = make(&x);
    bool kept = f->players > 1;

    if (!one)
        return NULL;
    f->vod->stat.parts_made++;
    if (kept)
        one = vod_rendered_fit(one);
    vod_cache_put(f->vod, one, kept);
    return one;
}
