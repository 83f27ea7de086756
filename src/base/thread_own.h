/* SPDX-License-Identifier: MIT */
/* thread_own.h - memory that a thread has to itself as long as it lives.
 *
 * What is made once per thread and kept in a thread-local pointer: nobody else could free it.
 */
#ifndef BASE_THREAD_OWN_H
#define BASE_THREAD_OWN_H

#include <stddef.h>

/* So many zeroed bytes of the thread that calls, freed when it ends (of the first one: with the
 * process). `end` is called on that thread with what is to be freed; NULL: there is nothing to do.
 * The last that was made is freed first. Cannot fail: for small sizes that no peer chose. */
void *thread_own(size_t size, void (*end)(void *p));

#endif
