/* SPDX-License-Identifier: MIT */
/* pack.c - the samples of a part, read from the file into one buffer. */
#include "av/packet.h"
#include "base/mem.h"
#include "vod/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* RUN: most samples of one read. GAP: smaller gaps between two samples, such as tag headers, are
 * read with them. KEPT: a larger buffer is freed after use. */
enum { RUN = 64, GAP = 4096, KEPT = 512 * 1024 };

/* The number of samples from which the distance of a track's samples is computed. */
enum { NEAR = 16 };

/* ---- reading */

struct run { /* consecutive bytes of the file */
    struct iovec v[RUN];
    int n;
    int64_t at;
    size_t size;
};

static void skip(struct run *r, size_t n)
{
    int i = 0;

    r->at += (int64_t)n;
    r->size -= n;
    while (n > 0 && n >= r->v[i].iov_len)
        n -= r->v[i++].iov_len;
    r->n -= i;
    memmove(r->v, r->v + i, (size_t)r->n * sizeof(r->v[0]));
    if (n > 0) {
        r->v[0].iov_base = (uint8_t *)r->v[0].iov_base + n;
        r->v[0].iov_len -= n;
    }
}

static enum demux_status read_run(struct run *r, const struct vod_input *in)
{
    while (r->size > 0) {
        ssize_t n = preadv2(in->fd, r->v, r->n, r->at, in->wait ? 0 : RWF_NOWAIT);

        if (n < 0 && errno == EINTR && in->wait)
            continue;
        if (n > 0)
            *in->bytes += (uint64_t)n;
        if (!in->wait && n < (ssize_t)r->size)
            return DEMUX_AGAIN;
        if (n <= 0)
            return n == 0 ? DEMUX_BROKEN : DEMUX_IO;
        skip(r, (size_t)n);
    }
    return DEMUX_OK;
}

static enum demux_status read_input(const struct demux_input *in, int64_t at, void *buf,
                                    size_t size)
{
    struct run r;

    if (at < 0 || at > in->size || (int64_t)size > in->size - at)
        return DEMUX_BROKEN;
    r.v[0] = (struct iovec){ buf, size };
    r.n = 1;
    r.at = at;
    r.size = size;
    return read_run(&r, (const struct vod_input *)(const void *)in);
}

void vod_input_init(struct vod_input *in, int fd, int64_t size, bool wait, uint64_t *bytes)
{
    *in = (struct vod_input){ .in = { .size = size, .read = read_input }, .fd = fd, .wait = wait,
                              .bytes = bytes };
}

/* ---- choosing samples */

static bool is_counted(const struct demux_sample *s, struct vod_request want)
{
    return !want.keys_only || (s->track == DEMUX_VIDEO && (s->key || s->config));
}

static bool is_wanted(const struct demux_sample *s, struct vod_request want)
{
    return (want.tracks & (1u << s->track)) && is_counted(s, want);
}

co_usec vod_turn(unsigned kbps)
{
    co_usec t = VOD_PART * INT64_C(8000) / (kbps ? kbps : 1);

    return t < VOD_TURN_LEAST ? VOD_TURN_LEAST : t < VOD_TURN_MOST ? t : VOD_TURN_MOST;
}

int64_t vod_group_end(const struct demux_group *g)
{
    int64_t end = g->v[g->n - 1].dts;
    const struct demux_sample *later[DEMUX_TRACKS] = { NULL };
    bool seen[DEMUX_TRACKS] = { false };

    for (unsigned i = g->n; i-- > 0 && g->n - i < NEAR;) {
        const struct demux_sample *s = &g->v[i], *next = later[s->track];

        if (next && !seen[s->track]) {
            seen[s->track] = true;
            end = 2 * next->dts - s->dts > end ? 2 * next->dts - s->dts : end;
        }
        later[s->track] = s;
    }
    return end;
}

/* Returns the time of the sample that follows sample i. */
static int64_t after(const struct demux_group *g, unsigned i)
{
    return i + 1 < g->n ? g->v[i + 1].dts : vod_group_end(g);
}

/* Adds samples from cut->begin on until the part is full. */
static void fill(struct vod_cut *cut, const struct demux_group *g, struct vod_request want)
{
    size_t all = 0;
    unsigned i = cut->begin;
    int64_t end = INT64_MAX;

    for (; i < g->n; i++) {
        const struct demux_sample *s = &g->v[i];

        if (!is_counted(s, want))
            continue;
        if (all > 0 && (all + s->size > want.bytes || after(g, i) > end))
            break;
        if (all == 0)
            end = s->dts + want.lasts;
        all += s->size;
        cut->n += is_wanted(s, want);
        cut->bytes += is_wanted(s, want) ? s->size : 0;
    }
    cut->end = i;
    cut->last = i == g->n;
}

struct vod_cut vod_cut_find(const struct demux_group *g, struct vod_request want, uint32_t part)
{
    struct vod_cut cut = { 0 };

    fill(&cut, g, want);
    for (uint32_t k = 0; k < part; k++) {
        cut = (struct vod_cut){ .begin = cut.end };
        fill(&cut, g, want);
    }
    return cut;
}

/* ---- layout of the buffer */

static size_t room_of(const struct demux_sample *s)
{
    return (sizeof(struct av_packet) + s->size + 15) & ~(size_t)15;
}

static bool make_slots(struct vod_pack *p, unsigned n)
{
    struct vod_slot *slots;
    struct vod_slot **by_place;

    if (n <= p->cap)
        return true;
    slots = mem_try_more(p->slots, n * sizeof(*slots));
    if (!slots)
        return false;
    p->slots = slots;
    by_place = mem_try_more(p->by_place, n * sizeof(struct vod_slot *));
    if (!by_place)
        return false;
    p->by_place = by_place;
    p->cap = n;
    return true;
}

static bool make_room(struct vod_pack *p, size_t size)
{
    if (size <= p->size && p->size <= KEPT)
        return true;
    free(p->buf);
    p->buf = mem_try(size);
    p->size = p->buf ? size : 0;
    return p->buf != NULL;
}

static enum demux_status place(struct vod_pack *p, const struct demux_group *g,
                               const struct vod_cut *cut, struct vod_request want)
{
    size_t size = GAP, at = GAP;

    p->n = 0;
    for (unsigned i = cut->begin; i < cut->end; i++) {
        if (g->v[i].size > DEMUX_SAMPLE_MAX)
            return DEMUX_TOO_LARGE;
        size += is_wanted(&g->v[i], want) ? room_of(&g->v[i]) : 0;
    }
    if (!make_slots(p, cut->n) || !make_room(p, size))
        return DEMUX_NO_MEMORY;
    for (unsigned i = cut->begin; i < cut->end; i++) {
        if (!is_wanted(&g->v[i], want))
            continue;
        p->slots[p->n] = (struct vod_slot){ &g->v[i], (void *)(p->buf + at) };
        p->by_place[p->n] = &p->slots[p->n];
        p->n++;
        at += room_of(&g->v[i]);
    }
    return DEMUX_OK;
}

/* ---- reading from the file */

static int by_place(const void *a, const void *b)
{
    const struct vod_slot *const *x = a, *const *y = b;

    return (*x)->s->at < (*y)->s->at ? -1 : (*x)->s->at > (*y)->s->at;
}

static void sort(struct vod_pack *p)
{
    for (unsigned i = 1; i < p->n; i++) {
        if (p->by_place[i]->s->at < p->by_place[i - 1]->s->at) {
            qsort(p->by_place, p->n, sizeof(struct vod_slot *), by_place);
            return;
        }
    }
}

/* Collects samples from `i` on that one read covers; returns their number. */
static unsigned collect(const struct vod_pack *p, unsigned i, struct run *r)
{
    unsigned from = i;

    *r = (struct run){ .at = p->by_place[i]->s->at };
    for (; i < p->n && r->n < RUN - 1; i++) {
        const struct demux_sample *s = p->by_place[i]->s;
        int64_t gap = s->at - (r->at + (int64_t)r->size);

        if (gap < 0 || gap > GAP)
            break;
        if (gap > 0)
            r->v[r->n++] = (struct iovec){ p->buf, (size_t)gap };
        r->v[r->n++] = (struct iovec){ p->by_place[i]->pkt->data, s->size };
        r->size += (size_t)gap + s->size;
    }
    return i - from;
}

enum demux_status vod_pack_read(struct vod_pack *p, const struct demux_group *g,
                                const struct vod_cut *cut, struct vod_request want,
                                const struct vod_input *in)
{
    enum demux_status status = place(p, g, cut, want);
    struct run r;

    if (status != DEMUX_OK)
        return status;
    sort(p);
    for (unsigned i = 0; i < p->n && status == DEMUX_OK;) {
        i += collect(p, i, &r);
        status = r.at < 0 || r.at > in->in.size || (int64_t)r.size > in->in.size - r.at
                     ? DEMUX_BROKEN : read_run(&r, in);
    }
    return status;
}

void vod_pack_free(struct vod_pack *p)
{
    free(p->slots);
    free(p->by_place);
    free(p->buf);
    *p = (struct vod_pack){ 0 };
}
