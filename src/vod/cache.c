/* SPDX-License-Identifier: MIT */
/* cache.c - parts and groups of files that were read and rendered, within a limit. */
#include "base/container_of.h"
#include "base/list.h"
#include "base/must.h"
#include "vod/store.h"

#include <stdlib.h>
#include <string.h>

/* ---- keys */

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15u;
    return h ^ h >> 32;
}

static struct vod_cached **bucket(struct vod_cache *c, const struct vod_file *f,
                                  const struct vod_wire_use *use, const struct vod_at *at)
{
    uint64_t h = mix((uintptr_t)f, (uintptr_t)use->wire);

    h = mix(h, (uint64_t)use->tracks << 33 | (uint64_t)use->round << 1 | use->keys_only);
    for (int i = 0; i < LIVE_PARAMS; i++)
        h = mix(h, use->param[i]);
    return &c->buckets[mix(mix(h, at->place), at->part) % VOD_CACHE_BUCKETS];
}

bool vod_use_same(const struct vod_wire_use *a, const struct vod_wire_use *b)
{
    return a->wire == b->wire && a->tracks == b->tracks && a->keys_only == b->keys_only &&
           a->round == b->round && a->wall == b->wall &&
           memcmp(a->param, b->param, sizeof(a->param)) == 0;
}

static bool is_it(const struct vod_cached *one, const struct vod_file *f,
                  const struct vod_wire_use *use, const struct vod_at *at)
{
    return one->file == f && one->at.place == at->place && one->at.part == at->part &&
           vod_use_same(&one->use, use);
}

/* ---- the hash table */

static struct vod_cached *find(struct vod_cache *c, const struct vod_file *f,
                               const struct vod_wire_use *use, const struct vod_at *at)
{
    struct vod_cached *one = *bucket(c, f, use, at);

    while (one && !is_it(one, f, use, at))
        one = one->next;
    return one;
}

/* ---- unused entries, least recently used first */

static void put_idle(struct vod_cache *c, struct vod_cached *one)
{
    one->older = c->newest;
    one->newer = NULL;
    *(c->newest ? &c->newest->newer : &c->oldest) = one;
    c->newest = one;
    c->idle += one->bytes;
}

static void take_idle(struct vod_cache *c, struct vod_cached *one)
{
    *(one->older ? &one->older->newer : &c->oldest) = one->newer;
    *(one->newer ? &one->newer->older : &c->newest) = one->older;
    c->idle -= one->bytes;
}

static void free_one(struct vod *v, struct vod_cached *one)
{
    v->cache.bytes -= one->bytes;
    *v->memory -= one->bytes;
    vod_shared_unref(one->group);
    vod_rendered_free(one);
}

/* Removes the entry from the table; its memory is freed with the last reference. */
static void unlist(struct vod *v, struct vod_cached *one)
{
    LIST_TAKE(one);
    *one->file_prev = one->file_next;
    if (one->file_next)
        one->file_next->file_prev = one->file_prev;
    if (one->refs > 0)
        return;
    take_idle(&v->cache, one);
    free_one(v, one);
}

void vod_cache_trim(struct vod *v, size_t limit)
{
    while (v->cache.bytes > limit && v->cache.oldest)
        unlist(v, v->cache.oldest);
}

void vod_cache_forget(struct vod *v, struct vod_file *f)
{
    while (f->cached)
        unlist(v, f->cached);
}

/* ---- users */

struct vod_cached *vod_cached_ref(struct vod_cached *one)
{
    if (one->refs++ == 0)
        take_idle(&one->file->vod->cache, one);
    return one;
}

void vod_cached_unref(struct vod_cached *one)
{
    struct vod *v = one->file->vod;

    if (--one->refs > 0)
        return;
    if (!one->prev) {
        free_one(v, one);
        return;
    }
    put_idle(&v->cache, one);
    vod_cache_trim(v, v->cache.limit);
}

struct vod_cached *vod_cache_find(struct vod *v, struct vod_file *f,
                                  const struct vod_wire_use *use, const struct vod_at *at)
{
    struct vod_cached *one = find(&v->cache, f, use, at);

    return one ? vod_cached_ref(one) : NULL;
}

static void count(struct vod *v, const struct vod_cached *one)
{
    v->cache.bytes += one->bytes;
    *v->memory += one->bytes;
}

static void list(struct vod *v, struct vod_cached *one)
{
    struct vod_file *f = one->file;
    struct vod_cached *old = find(&v->cache, f, &one->use, &one->at);
    struct vod_cached **head = bucket(&v->cache, f, &one->use, &one->at);

    if (old)
        unlist(v, old);
    LIST_PUT(head, one);
    one->file_next = f->cached;
    one->file_prev = &f->cached;
    if (f->cached)
        f->cached->file_prev = &one->file_next;
    f->cached = one;
}

void vod_cache_put(struct vod *v, struct vod_cached *one, bool kept)
{
    if (kept)
        list(v, one);
    count(v, one);
    vod_cache_trim(v, v->cache.limit);
}

/* Keeps an entry that was going to be freed, since another player requests it. */
static struct vod_cached *keep(struct vod *v, struct vod_cached *one)
{
    v->cache.bytes -= one->bytes;
    *v->memory -= one->bytes;
    one = vod_rendered_fit(one);
    vod_cache_put(v, one, true);
    return one;
}

void vod_part_put(struct vod_file *f, const struct vod_part *part, bool done)
{
    struct vod_cached *one = container_of(part, struct vod_cached, part);

    if (!done && !one->prev && one->refs == 1)
        one = keep(f->vod, one);
    vod_cached_unref(one);
}

/* ---- groups */

static const struct vod_wire_use no_use;

struct vod_shared *vod_cache_group(struct vod *v, struct vod_file *f, demux_position place)
{
    struct vod_cached *one = vod_cache_find(v, f, &no_use, &(struct vod_at){ .place = place });
    struct vod_shared *g = one ? vod_shared_ref(one->group) : NULL;

    if (one)
        vod_cached_unref(one);
    return g;
}

void vod_cache_put_group(struct vod *v, struct vod_file *f, struct vod_shared *g)
{
    struct vod_cached *one = must(calloc(1, sizeof(*one)));

    one->file = f;
    one->at.place = g->g->place;
    one->group = vod_shared_ref(g);
    one->refs = 1;
    one->bytes = sizeof(*one) + sizeof(*g->g) + g->g->n * sizeof(g->g->v[0]);
    vod_cache_put(v, one, true);
    vod_cached_unref(one);
}
