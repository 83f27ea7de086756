/* SPDX-License-Identifier: MIT */
/* block_cache.c - a cache of memory blocks for segments and recordings. */
#include "sink/store/block_cache.h"

#include "base/container_of.h"
#include "base/must.h"
#include "live/deferred_free.h"

#include <stddef.h>

enum { KEPT = 32 << 20, PART = 16 }; /* bytes, but at most 1/PART of limits.memory */

#define SWEEP CO_SECONDS(10)

struct block_cache *block_cache_new(struct live_registry *r)
{
    struct block_cache *s = must(calloc(1, sizeof(*s)));

    ref_init(&s->ref);
    s->blocks.used = live_registry_counter(r);
    s->memory = live_registry_memory(r);
    return s;
}

struct block_cache *block_cache_ref(struct block_cache *s)
{
    ref_get(&s->ref);
    return s;
}

struct block_cache *block_cache_unref(struct block_cache *s)
{
    if (!s || !ref_put(&s->ref))
        return NULL;
    co_timer_cancel(&s->sweep);
    block_pool_free(&s->blocks);
    free(s);
    return NULL;
}

static void sweep(struct co_timer *t)
{
    struct block_cache *s = container_of(t, struct block_cache, sweep);

    block_pool_sweep(&s->blocks);
    if (s->blocks.n > 0)
        co_timer_set(t, co_now() + SWEEP, sweep);
}

/* Blocks that are freed gradually. */
struct dead {
    struct live_deferred_free reap;
    struct blocks blocks;
};

static bool free_block(struct live_deferred_free *r)
{
    struct dead *d = container_of(r, struct dead, reap);

    if (blocks_drop(&d->blocks))
        return true;
    free(d);
    return false;
}

static void bury(struct blocks *b)
{
    struct dead *d = must(malloc(sizeof(*d)));

    *d = (struct dead){ .reap.free_one = free_block, .blocks = blocks_take(b) };
    blocks_uncount(&d->blocks);
    live_deferred_free(&d->reap);
}

static unsigned most(const struct block_cache *s)
{
    size_t kept = s->memory->limit ? s->memory->limit / PART : KEPT;

    return (unsigned)((kept < KEPT ? kept : KEPT) / BLOCK_SIZE);
}

void block_cache_return(struct block_cache *s, struct blocks *b)
{
    bool first = s->blocks.n == 0;

    s->blocks.most = most(s);
    if (b->memory > LIVE_DEFERRED_BYTES)
        bury(b);
    else
        blocks_free(b);
    if (!first || s->blocks.n == 0)
        return;
    s->blocks.least = 0;
    co_timer_set(&s->sweep, co_now() + SWEEP, sweep);
}
