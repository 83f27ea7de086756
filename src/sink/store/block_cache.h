/* SPDX-License-Identifier: MIT */
/* block_cache.h - a cache of memory blocks for segments and recordings. Used blocks count in the
 * memory of streams; returned blocks are kept for reuse and freed gradually.
 *
 * A segment stays in memory while it grows and is written. With many streams, getting cleared
 * memory from the system costs more than muxing the segments. Blocks that were not needed for a
 * while are freed.
 */
#ifndef SINK_STORE_BLOCK_CACHE_H
#define SINK_STORE_BLOCK_CACHE_H

#include "base/blocks.h"
#include "base/ref.h"
#include "co/co.h"
#include "live/source.h"

struct block_cache { /* shared by all users of its blocks */
    struct ref ref;
    struct block_pool blocks;
    const struct live_memory *memory;
    struct co_timer sweep;
};

/* The registry counts the used blocks and must outlive the cache. */
struct block_cache *block_cache_new(struct live_registry *r);
struct block_cache *block_cache_ref(struct block_cache *s);
struct block_cache *block_cache_unref(struct block_cache *s); /* always NULL; NULL is fine */
/* Returns all blocks of *b, gradually if there are many; *b is empty then. */
void block_cache_return(struct block_cache *s, struct blocks *b);

#endif
