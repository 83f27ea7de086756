/* SPDX-License-Identifier: MIT */
/* heap.h - what malloc and the regions of streams keep, and when it goes back to the system.
 *
 * After a peak of streams malloc keeps their memory: the C library gives back only what lies at
 * the end, tcmalloc only while more is being freed. So we ask for it when a peak is over. */
#ifndef APP_DEV_HEAP_H
#define APP_DEV_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* tcmalloc_release_rate, for builds with gperftools: 0 gives nothing back, 0.8 that part of what
 * is free, from 1 on all of it. */
void heap_init(double rate);
/* Every few seconds: look whether a peak is over. Takes some ms after one, else next to nothing. */
void heap_tend(void);
/* What of that belongs to the thread that calls, for those that do not call heap_tend(). Yields. */
void heap_tend_regions(void);

/* What tcmalloc says of itself, several lines; and one number of what it knows, by its name. False
 * and 0 where malloc is not tcmalloc. */
bool heap_text(char *text, size_t size);
size_t heap_property(const char *name);
double heap_release_rate(void);

#endif
