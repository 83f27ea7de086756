/* SPDX-License-Identifier: MIT */
/* mem.h - allocations whose size depends on a peer; they may fail.
 *
 * Small allocations cannot fail (must.h), so memory is reserved for them: these functions return
 * NULL while the system has little memory left, and the caller ends its connection with
 * ERR_NO_MEMORY. Any thread; release with free().
 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>

/* Sets the number of threads that make such allocations. They do not coordinate, so the free memory
 * that one finds must suffice for all. 1 by default. */
void  mem_threads(unsigned n);
bool  mem_left(void);                     /* true if there is memory for new work */
bool  mem_may(size_t size);               /* true if `size` bytes may be taken from the system */
void *mem_try(size_t size);               /* NULL: out of memory */
void *mem_try_more(void *p, size_t size); /* like realloc(): on NULL, p is unchanged */
/* Makes room for element n of an array of *cap elements of `each` bytes. Returns the array; NULL:
 * out of memory, the array is unchanged. */
void *mem_try_room(void *v, size_t n, size_t *cap, size_t each);

#endif
