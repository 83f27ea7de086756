/* SPDX-License-Identifier: MIT */
/* bump.h - a bump allocator: small pieces of memory, one after another in blocks.
 *
 * For pieces of one owner that are freed roughly in the order of their allocation, such as the
 * packets of a stream. Allocation moves a pointer, and freeing decrements a count; a block is freed
 * with its last piece. Blocks start at 4 KB and grow with the owner's use, so a small owner leaves
 * little memory unused.
 *
 * A piece may outlive its owner. Single-threaded, like region.h.
 */
#ifndef BASE_BUMP_H
#define BASE_BUMP_H

#include <stddef.h>

struct bump;

/* `idle` counts the unused bytes of its blocks, including space pinned by one old piece. Several
 * owners may share the counter. It may be NULL. */
struct bump *bump_new(size_t *idle);
/* Releases the owner's reference and stops counting unused bytes. Always returns NULL; b may be
 * NULL. */
struct bump *bump_close(struct bump *b);
/* Detaches the counter, for a counter that is freed before the owner. */
void bump_uncount(struct bump *b);

/* Allocates a piece aligned to 8. With b NULL it comes from malloc, for data that is kept for a
 * long time. Returns NULL if out of memory. */
void *bump_try(struct bump *b, size_t size);
/* Enlarges a piece like realloc(). On failure returns NULL and leaves the piece unchanged. */
void *bump_grow(void *p, size_t size);
void  bump_free(void *p);

#endif
