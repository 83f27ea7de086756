/* SPDX-License-Identifier: MIT */
/* make.c - what a wire makes of samples that were read. */
#include "base/must.h"
#include "sink/vod/store.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What a wire may make of a part: EACH for a sample beside its bytes. */
enum { EACH = 256, MORE = 64 * 1024 };

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

/* What is no frame goes with the next one; at the end of a part with the last. */
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

        assert(pack->slots[i].pkt->ref.n == 1); /* they are our memory */
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
        p->dts = demux_place_time(one->file->index->demux, g->place, &pts);
}

struct vod_cached *vod_make(struct vod_file *f, const struct vod_wire_use *use,
                            const struct vod_at *at, const struct vod_numbers *from,
                            const struct demux_group *g, const struct vod_cut *cut,
                            const struct vod_pack *pack)
{
    size_t marks = pack->n * sizeof(struct vod_mark);
    struct vod_cached *one = must(calloc(1, sizeof(*one) + marks));
    struct wr w;
    uint8_t *data;

    *one = (struct vod_cached){ .file = f, .use = *use, .at = *at, .refs = 1 };
    one->part.begin = *from;
    one->part.end = *from;
    describe(one, g, cut);
    wr_init(&w, 2 * cut->bytes + cut->n * EACH + MORE);
    if (cut->n > 0) {
        (void)wr_reserve(&w, cut->bytes + cut->bytes / 16 + cut->n * 64 + 1024);
        make_all(one, pack, &w);
    }
    if (w.bad) {
        wr_free(&w);
        free(one);
        return NULL;
    }
    data = w.len ? realloc(w.buf, w.len) : NULL;
    if (!w.len)
        free(w.buf);
    one->part.data = data ? data : w.len ? w.buf : NULL;
    one->part.size = w.len;
    one->part.marks = one->marks;
    one->bytes = sizeof(*one) + marks + w.len;
    if (one->part.n > 0)
        one->part.dts = one->marks[0].dts;
    f->vod->stat.parts_made++;
    vod_cache_put(f->vod, one);
    return one;
}
