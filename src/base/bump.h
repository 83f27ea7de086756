/* SPDX-License-Identifier: MIT */
/* bump.h - small pieces of memory, one behind the other in blocks (a bump allocator).
 *
 * For pieces of one owner that die about in the order in which they were made, such as the packets
 * of a stream. To take one moves an end, to free one counts down; a block goes back when its last
 * piece has. Blocks grow with what the owner has, from 4 KB on, so little is idle of one that has
 * little.
 *
 * A piece may outlive its owner. All is of one thread, as region.h says.
 */
#ifndef BASE_BUMP_H
#define BASE_BUMP_H

#include <stddef.h>

struct bump;

/* `idle` counts the bytes of its blocks that no piece is in, such as what one old piece holds back;
 * others may share the counter. It may be NULL. */
struct bump *bump_new(size_t *idle);
/* The owner has gone: what is idle counts no more. Always NULL; b may be NULL. */
struct bump *bump_close(struct bump *b);
/* The counter has gone, the owner has not. */
void bump_uncount(struct bump *b);

/* Aligned to 8. With b NULL it is of malloc, for what is kept for long. NULL: there is no
 * memory. */
void *bump_try(struct bump *b, size_t size);
/* Make a piece larger as realloc() does: on NULL it is what it was. */
void *bump_grow(void *p, size_t size);
void  bump_free(void *p);

#endif
