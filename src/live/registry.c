/* SPDX-License-Identifier: MIT */
/* registry.c - all sources of a server by name. */
#include "base/container_of.h"
#include "base/list.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "live/impl.h"
#include "live/deferred_free.h"
#include "live/source.h"

#include <stdlib.h>
#include <string.h>

enum { SQUEEZES = 64, VICTIMS = 32, ROUNDS = 4 };
/* Smaller streams drop nothing. Thousands may keep a little each: streams without players, segments
 * of ended streams. Streams with players keep their last seconds. */
enum { SMALL = 4 * 1024, SMALL_PLAYED = 4 << 20 };

#define LOG_EVERY CO_SECONDS(10)

void live_registry_free(struct live_registry *r)
{
    for (struct live_source *src = r ? live_registry_next(r, NULL) : NULL; src;
         src = live_registry_next(r, src)) {
        src->registry = NULL;
        if (src->packets)
            bump_uncount(src->packets);
    }
    if (r)
        table_free(&r->sources);
    free(r);
    live_deferred_free_flush();
}

struct live_source *live_registry_find(struct live_registry *r, const char *name)
{
    uint32_t hash = text_hash(name);
    struct table_link *l = NULL;

    while ((l = table_find(&r->sources, hash, l))) {
        struct live_source *src = container_of(l, struct live_source, link);

        if (strcmp(src->name, name) == 0)
            return src;
    }
    return NULL;
}

struct live_source *live_registry_get(struct live_registry *r, const char *name,
                                      const struct live_settings *set)
{
    struct live_source *src = live_registry_find(r, name);

    if (src)
        return live_source_ref(src);
    src = live_source_new(name, set);
    src->registry = r;
    table_put(&r->sources, &src->link, text_hash(name));
    return src;
}

void live_registry_limit(struct live_registry *r, size_t bytes)
{
    r->memory.limit = bytes;
    r->alarm = bytes ? bytes : SIZE_MAX;
}

void live_registry_part(struct live_registry *r, size_t bytes)
{
    size_t before = r->memory.limit, differs = bytes > before ? bytes - before : before - bytes;

    r->part = true;
    /* a small change does not reset a raised alarm */
    if (bytes == 0 || before == 0 || differs > before / 64)
        live_registry_limit(r, bytes);
}

const struct live_memory *live_registry_memory(const struct live_registry *r)
{
    return &r->memory;
}

size_t *live_registry_counter(struct live_registry *r)
{
    return &r->memory.used;
}

void live_evictable_open(struct live_evictable *k, struct live_registry *r, const char *name,
                      const struct live_evictable_ops *how)
{
    *k = (struct live_evictable){ .how = how, .name = name };
    LIST_PUT(&r->evictables, k);
}

void live_evictable_close(struct live_evictable *k)
{
    if (!k->prev)
        return;
    LIST_TAKE(k);
}

size_t live_evictable_share(const struct live_memory *m)
{
    return m->limit ? m->limit / 8 : SIZE_MAX;
}

/* A source or evictable, and how much it can drop. */
struct victim {
    struct live_source *src;
    struct live_evictable *evictable;
    size_t bytes;
};

/* The largest ones, unsorted, found in one walk for any number of streams. */
struct victims {
    struct victim v[VICTIMS];
    unsigned n;
};

static struct victim *least_of(struct victims *all)
{
    struct victim *least = &all->v[0];

    for (unsigned i = 1; i < all->n; i++) {
        if (all->v[i].bytes < least->bytes)
            least = &all->v[i];
    }
    return least;
}

static struct victim *most_of(struct victims *all)
{
    struct victim *most = &all->v[0];

    for (unsigned i = 1; i < all->n; i++) {
        if (all->v[i].bytes > most->bytes)
            most = &all->v[i];
    }
    return most;
}

static bool is_large(const struct live_registry *r, const struct victim *l)
{
    size_t small = SMALL;

    if (l->src && l->src->consumers)
        small = r->memory.limit / 8 < SMALL_PLAYED ? r->memory.limit / 8 : SMALL_PLAYED;
    return l->bytes > small;
}

static void note(const struct live_registry *r, struct victims *all, const struct victim *l)
{
    struct victim *least;

    if (!is_large(r, l))
        return;
    if (all->n < VICTIMS) {
        all->v[all->n++] = *l;
        return;
    }
    least = least_of(all);
    if (l->bytes > least->bytes)
        *least = *l;
}

static size_t droppable_of(const struct victim *l)
{
    return l->src ? live_source_droppable(l->src) : l->evictable->how->droppable(l->evictable);
}

/* Returns true for a stream that is spared at first: it has players and is not too large. The size
 * limit prevents a publisher that plays its own stream from taking memory from all others. */
static bool is_spared(const struct victim *l)
{
    return l->src && l->src->consumers > 0 && l->bytes <= SMALL_PLAYED;
}

/* Collects the largest spared streams; or the largest others, with data that any stream keeps for
 * the disk. */
static void find_victims(struct live_registry *r, bool spared, struct victims *all)
{
    all->n = 0;
    for (struct live_source *src = live_registry_next(r, NULL); src;
         src = live_registry_next(r, src)) {
        struct victim l = { .src = src, .bytes = live_source_droppable(src) };

        if (is_spared(&l) == spared)
            note(r, all, &l);
    }
    for (struct live_evictable *k = r->evictables; k && !spared; k = k->next)
        note(r, all, &(struct victim){ .evictable = k, .bytes = k->how->droppable(k) });
}

/* Drops data; returns the number of bytes and sets *name. */
static size_t drop(struct live_registry *r, const struct victim *l, const char **name)
{
    size_t before = r->memory.used;

    *name = l->src ? l->src->name : l->evictable->name;
    if (l->src)
        return live_source_halve(l->src);
    l->evictable->how->cut(l->evictable);
    return before > r->memory.used ? before - r->memory.used : 0;
}

static void log_squeezed(struct live_registry *r, const char *name, size_t bytes)
{
    co_usec now = co_now();

    if (r->logged_at && now - r->logged_at < LOG_EVERY)
        return;
    r->logged_at = now;
    log_always(LOG_WARN,
               "%s use %zu MB, %slimits.memory is %zu MB: the largest, such as %s, dropped their "
               "oldest %zu KB; %llu times so far", r->part ? "streams of one worker" : "streams",
               r->memory.used >> 20, r->part ? "its share of " : "", r->memory.limit >> 20, name,
               bytes >> 10, (unsigned long long)r->memory.squeezed);
}

/* Drops data of the largest of these, at most half of a spared stream. *want: bytes still to free.
 * Returns false if they have nothing to drop. */
static bool squeeze(struct live_registry *r, bool spared, size_t *want, const char **name)
{
    struct victims all;
    bool lost;

    find_victims(r, spared, &all);
    lost = all.n > 0;
    for (int i = 0; i < SQUEEZES && all.n > 0 && *want > 0; i++) {
        struct victim *l = most_of(&all);
        size_t freed = drop(r, l, name);

        *want -= freed < *want ? freed : *want;
        r->memory.squeezed_bytes += freed;
        r->memory.squeezed++;
        l->bytes = droppable_of(l);
        if (is_spared(l) || !is_large(r, l))
            *l = all.v[--all.n];
    }
    return lost;
}

/* Frees memory until usage is well below the limit, so that the next packet does not exceed it
 * again. If that is impossible because players are in the dropped blocks, tries again only after
 * memory has grown. */
static void squeeze_all(struct live_registry *r)
{
    size_t enough = r->memory.limit - r->memory.limit / 16;
    size_t want = r->memory.used - enough;
    uint64_t before = r->memory.squeezed_bytes;
    const char *name = "";

    for (int i = 0; i < ROUNDS && want > 0; i++) {
        if (!squeeze(r, false, &want, &name)) {
            (void)squeeze(r, true, &want, &name);
            break;
        }
    }
    if (r->memory.squeezed_bytes > before)
        log_squeezed(r, name, r->memory.squeezed_bytes - before);
    r->alarm = r->memory.used + r->memory.limit / 32;
    if (r->alarm < r->memory.limit)
        r->alarm = r->memory.limit;
}

struct live_registry *live_registry_new(void)
{
    struct live_registry *r = must(calloc(1, sizeof(*r)));

    r->alarm = SIZE_MAX;
    r->squeeze = squeeze_all;
    return r;
}

size_t live_registry_count(const struct live_registry *r)
{
    return r->sources.n;
}

struct live_source **live_registry_all(struct live_registry *r, size_t *n)
{
    struct live_source **all = must(malloc((r->sources.n + 1) * sizeof(all[0])));

    *n = 0;
    for (struct live_source *src = live_registry_next(r, NULL); src;
         src = live_registry_next(r, src))
        all[(*n)++] = live_source_ref(src);
    return all;
}

struct live_source *live_registry_next(struct live_registry *r, struct live_source *src)
{
    struct table_link *l = table_next(&r->sources, src ? &src->link : NULL);

    return l ? container_of(l, struct live_source, link) : NULL;
}
