/* SPDX-License-Identifier: MIT */
/* thread_own.h - memory that belongs to one thread and is freed when the thread ends.
 *
 * For objects created once per thread and kept in a thread-local pointer: no other code can free
 * them.
 */
#ifndef BASE_THREAD_OWN_H
#define BASE_THREAD_OWN_H

#include <stddef.h>

/* Allocates `size` zeroed bytes, freed when the calling thread ends (for the main thread: when the
 * process exits). `end`, if not NULL, is called on that thread before the memory is freed. The last
 * allocation is freed first. Cannot fail: only for small sizes that no peer chooses. */
void *thread_own(size_t size, void (*end)(void *p));

#endif
