/* SPDX-License-Identifier: MIT */
/* blocks.h - bytes that grow to many: a list of blocks, of which none ever moves.
 *
 * A buffer that doubles is copied again and again, and to free one of 64 MB takes milliseconds.
 * Here what is written goes behind what is there, through `w`, a writer like any other but that
 * what it wrote before its block was full is out of its reach:
 *
 *     blocks_init(&b, limit, &shop);
 *     wr_bytes(&b.w, ...); ...             b.w.bad tells what failed
 *     for (p = blocks_begin(&b); p; p = p->next)   p->data, p->len
 *     blocks_free(&b);
 */
#ifndef BASE_BLOCKS_H
#define BASE_BLOCKS_H

#include "base/wr.h"

#include <stdbool.h>

/* Most blocks have this size; those of a small beginning less, those that must hold something large
 * in one piece more. */
enum { BLOCK_SIZE = 64 << 10 };

struct block {
    struct block *next;
    size_t len, cap;
    uint8_t data[];
};

/* Where blocks come from and go to: used ones are kept for others. To malloc they are large, and
 * their pages would go back to the system and come again cleared. */
struct block_pool {
    struct block *first;
    unsigned n, most; /* blocks that are kept, of BLOCK_SIZE each */
    unsigned least;   /* how many were there all the time since block_pool_sweep() */
    size_t *used;     /* counts the bytes of all blocks that are in use; or NULL */
};

void block_pool_sweep(struct block_pool *s); /* frees what nobody needed since the last time */
void block_pool_free(struct block_pool *s);  /* all that it keeps */

struct blocks {
    struct wr w;         /* writes to the last block */
    struct block *first, *last;
    size_t before;       /* bytes in all blocks but the last */
    size_t memory;       /* what all take */
    size_t limit, step;  /* step: size of the next block */
    struct block_pool *shop;
};

/* The shop may be NULL, and else must live as long as the blocks. */
void blocks_init(struct blocks *b, size_t limit, struct block_pool *shop);
void blocks_free(struct blocks *b); /* it is empty then, and as after init */
static inline size_t blocks_len(const struct blocks *b)
{
    return b->before + b->w.len;
}

/* The first block, for a walk: up to the next write. NULL: there is none. */
struct block *blocks_begin(struct blocks *b);
/* Give back what a single block has left over, if that is more than half: it is kept for long. */
void blocks_fit(struct blocks *b);
/* All of it goes to another one, which was not there before; *from is empty then. */
struct blocks blocks_take(struct blocks *from);
/* Append what another one has, and empty that: large blocks change hands, small ones are copied. */
void blocks_move(struct blocks *to, struct blocks *from);
/* Append a copy of what is there from `at` on. */
void blocks_copy(struct blocks *to, struct blocks *from, size_t at);
/* Forget what is behind the first `len` bytes, and what failed. */
void blocks_cut(struct blocks *b, size_t len);
/* Free the first block, which nobody writes to any more. False: there is none. */
bool blocks_drop(struct blocks *b);
/* What is freed later counts no more. */
void blocks_uncount(struct blocks *b);

#endif
