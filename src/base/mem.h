/* SPDX-License-Identifier: MIT */
/* mem.h - memory of a size that a peer has a say in: it may be refused.
 *
 * Small allocations cannot fail (must.h), so somebody has to leave them something: this refuses
 * while the system has only little more to give, and whoever asked ends its own connection with
 * ERR_NO_MEMORY. Any thread; free() as ever.
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

/* So many threads take what peers have a say in, each without asking the others: what one finds
 * left has to do for all. 1 without. */
void  mem_threads(unsigned n);
bool  mem_left(void);                     /* is there some to begin anything new with? */
bool  mem_may(size_t size);               /* is there so much? For who asks the system itself */
void *mem_try(size_t size);               /* NULL: there is none */
void *mem_try_more(void *p, size_t size); /* as realloc(): on NULL p is still what it was */
/* Makes room for element n of an array of *cap elements of `each` bytes. Returns the array; NULL:
 * out of memory, the array is unchanged. */
void *mem_try_room(void *v, size_t n, size_t *cap, size_t each);

#endif
