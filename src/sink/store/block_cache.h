/* SPDX-License-Identifier: MIT */
/* block_cache.h - blocks of segments and recordings: counted with what streams remember, kept for
 * those to come, and given back some at a time.
 *
 * A segment's bytes are in memory for as long as it grows and is written. With many streams it
 * costs more to get memory from the system for each, and to clear it, than to make the segments.
 * Blocks that were not needed for a while are freed.
 */
#ifndef SINK_STORE_BLOCK_CACHE_H
#define SINK_STORE_BLOCK_CACHE_H

#include "base/blocks.h"
#include "base/ref.h"
#include "co/co.h"
#include "live/source.h"

struct block_cache { /* shared by those whose blocks come back */
    struct ref ref;
    struct block_pool blocks;
    const struct live_memory *memory;
    struct co_timer sweep;
};

/* The registry counts what is in use, and outlives it. */
struct block_cache *block_cache_new(struct live_registry *r);
struct block_cache *block_cache_ref(struct block_cache *s);
struct block_cache *block_cache_unref(struct block_cache *s); /* always NULL; NULL is fine */
/* Free what is there, between the turns of others if it is much. *b is empty then. */
void block_cache_return(struct block_cache *s, struct blocks *b);

#endif
