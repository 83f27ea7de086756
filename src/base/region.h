/* SPDX-License-Identifier: MIT */
/* region.h - a buddy allocator for stream data: blocks of memory in regions of 2 MB.
 *
 * malloc treats blocks of this size as large: it returns each to the system, which clears the pages
 * again for the next one. Free memory between small blocks goes back only in one long step. Here a
 * block is a power of two of pages in a region; an empty region goes back to the system after a
 * while.
 *
 * Single-threaded: a block must be freed on the thread that allocated it.
 */
#ifndef BASE_REGION_H
#define BASE_REGION_H

#include <stdbool.h>
#include <stddef.h>

enum {
    REGION_SIZE = 2 << 20, REGION_BLOCK_MIN = 4 << 10,
    REGION_BLOCK_MAX = REGION_SIZE / 2, /* larger blocks get their own mapping */
};

/* Returns the size of the block that holds at least `size` bytes. */
size_t region_fit(size_t size);
/* Allocates a block of a size from region_fit(), not cleared. Returns NULL if out of memory. */
void *region_take(size_t size);
/* Enlarges a block; both sizes come from region_fit(). On failure returns NULL, p is unchanged. */
void *region_grow(void *p, size_t from, size_t to);
void  region_give(void *p, size_t size); /* frees a block; `size` as allocated */

/* Starts to return memory that was unused since the last region_sweep() to the system. Each step
 * takes well under a millisecond; returns false when nothing is left to do. */
void region_sweep(void);
bool region_sweep_step(void);
/* Returns empty regions to the system at once, until `size` bytes are freed or none is left.
 * Returns false if no region was empty. */
bool region_free_idle(size_t size);

struct region_stat {
    size_t regions, idle; /* idle: empty regions */
    size_t used;          /* bytes of blocks in use, including blocks with their own mapping */
};

struct region_stat region_stat(void);

#endif
