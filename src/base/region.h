/* SPDX-License-Identifier: MIT */
/* region.h - blocks of memory for what streams keep, out of regions of 2 MB.
 *
 * To malloc, blocks of this size are large: it gives them back to the system one by one, to be
 * cleared page by page when they come again, and what it keeps between small ones it gives back
 * only in one long step. Here a block is a power of two of pages in a region (a buddy allocator);
 * a region of which nothing is used goes back to the system after a while.
 *
 * All of it is of one thread: a block is given back on the thread that took it.
 */
#ifndef BASE_REGION_H
#define BASE_REGION_H

#include <stdbool.h>
#include <stddef.h>

enum {
    REGION_SIZE = 2 << 20, REGION_BLOCK_MIN = 4 << 10,
    REGION_BLOCK_MAX = REGION_SIZE / 2, /* what is larger is mapped by itself */
};

/* The size of the block that is given for so many bytes, or more. */
size_t region_fit(size_t size);
/* Memory of a size that region_fit() gave, not cleared. NULL: the system has none. */
void *region_take(size_t size);
/* Make a block larger, both sizes by region_fit(). NULL: there is no memory, p is what it was. */
void *region_grow(void *p, size_t from, size_t to);
void  region_give(void *p, size_t size); /* as it was taken */

/* Give back to the system what nobody needed since the last region_sweep(). A step takes well under
 * a millisecond. False: nothing is left to do. */
void region_sweep(void);
bool region_sweep_step(void);
/* As much of what is empty as makes so many bytes, at once. False: nothing is. */
bool region_free_idle(size_t size);

struct region_stat {
    size_t regions, idle; /* of these nothing is in use */
    size_t used;          /* bytes of blocks, those that are mapped by themselves as well */
};

struct region_stat region_stat(void);

#endif
