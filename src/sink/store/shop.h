/* SPDX-License-Identifier: MIT */
/* shop.h - blocks of segments and recordings: counted with what streams remember, kept for those
 * to come, and given back some at a time.
 *
 * A segment's bytes are in memory for as long as it grows and is written. With many streams it
 * costs more to get memory from the system for each, and to clear it, than to make the segments.
 * Blocks that were not needed for a while go.
 */
#ifndef SINK_STORE_SHOP_H
#define SINK_STORE_SHOP_H

#include "base/blocks.h"
#include "base/ref.h"
#include "co/co.h"
#include "live/source.h"

struct shop { /* shared by those whose blocks come back */
    struct ref ref;
    struct block_shop blocks;
    const struct live_memory *memory;
    struct co_timer sweep;
};

/* The registry counts what is in use, and outlives it. */
struct shop *shop_new(struct live_registry *r);
struct shop *shop_ref(struct shop *s);
struct shop *shop_unref(struct shop *s); /* always NULL; NULL is fine */
/* Free what is there, between the turns of others if it is much. *b is empty then. */
void shop_free_blocks(struct shop *s, struct blocks *b);

#endif
