/* SPDX-License-Identifier: MIT */
/* blocks.h - a byte buffer that grows by adding blocks; blocks never move.
 *
 * A buffer that doubles is copied again and again, and freeing one of 64 MB takes milliseconds.
 * Here bytes are appended through `w`. It is an ordinary writer, except that it can only reach the
 * bytes of the last block:
 *
 *     blocks_init(&b, limit, &pool);
 *     wr_bytes(&b.w, ...); ...             b.w.bad is the error code
 *     for (p = blocks_begin(&b); p; p = p->next)   p->data, p->len
 *     blocks_free(&b);
 */
#ifndef BASE_BLOCKS_H
#define BASE_BLOCKS_H

#include "base/wr.h"

#include <stdbool.h>

/* Usual size of a block. The first blocks are smaller; a block that must hold a large piece without
 * a gap is larger. */
enum { BLOCK_SIZE = 64 << 10 };

struct block {
    struct block *next;
    size_t len, cap;
    uint8_t data[];
};

/* Free blocks, kept for reuse. malloc treats this size as large: it would return the pages to the
 * system, which clears them again for the next block. */
struct block_pool {
    struct block *first;
    unsigned n, most; /* free blocks of BLOCK_SIZE each, and their limit */
    unsigned least;   /* lowest n since the last block_pool_sweep() */
    size_t *used;     /* counter of the bytes of all blocks in use; or NULL */
};

void block_pool_sweep(struct block_pool *s); /* frees blocks not used since the last sweep */
void block_pool_free(struct block_pool *s);  /* frees all blocks of the pool */

struct blocks {
    struct wr w;         /* writes to the last block */
    struct block *first, *last;
    size_t before;       /* bytes in all blocks but the last */
    size_t memory;       /* bytes allocated for all blocks */
    size_t limit, step;  /* step: size of the next block */
    struct block_pool *pool;
};

/* `pool` is the pool to take blocks from, or NULL. It must outlive the blocks. */
void blocks_init(struct blocks *b, size_t limit, struct block_pool *pool);
void blocks_free(struct blocks *b); /* frees all blocks; `b` can be used again */
static inline size_t blocks_len(const struct blocks *b)
{
    return b->before + b->w.len;
}

/* Returns the first block, or NULL if empty. The list is valid until the next write. */
struct block *blocks_begin(struct blocks *b);
/* Shrinks a single block that is less than half full. For buffers that are kept for a long time. */
void blocks_fit(struct blocks *b);
/* Moves all blocks into a new buffer, which is returned. *from is empty afterwards. */
struct blocks blocks_take(struct blocks *from);
/* Appends the content of `from` and empties it. Moves large blocks and copies small ones. */
void blocks_move(struct blocks *to, struct blocks *from);
/* Appends a copy of the bytes of `from` that start at offset `at`. */
void blocks_copy(struct blocks *to, struct blocks *from, size_t at);
/* Truncates to the first `len` bytes and clears the error. */
void blocks_cut(struct blocks *b, size_t len);
/* Frees the first block, which must not be written to any more. Returns false if empty. */
bool blocks_drop(struct blocks *b);
/* Stops updating the counter of bytes in use: blocks freed from now on are not counted. */
void blocks_uncount(struct blocks *b);

#endif
