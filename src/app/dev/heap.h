/* SPDX-License-Identifier: MIT */
/* heap.h - returns memory that malloc and the regions of streams keep to the system.
 *
 * After a peak of streams malloc keeps their memory: the C library only returns memory at the end
 * of the heap, tcmalloc only while more is being freed. So heap_tend() requests it when a peak is
 * over. */
#ifndef APP_DEV_HEAP_H
#define APP_DEV_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* Sets tcmalloc_release_rate for builds with gperftools: the part of free memory that is returned;
 * 0 returns none, 1 and above all of it. */
void heap_init(double rate);
/* Checks every few seconds whether a peak is over. Takes some ms after a peak, else almost none. */
void heap_tend(void);
/* Does the calling thread's part of it, for threads that do not call heap_tend(). Yields. */
void heap_tend_regions(void);

/* heap_text() writes tcmalloc's statistics, several lines; heap_property() returns one value by
 * name. They return false and 0 if malloc is not tcmalloc. */
bool heap_text(char *text, size_t size);
size_t heap_property(const char *name);
double heap_release_rate(void);

#endif
