/* SPDX-License-Identifier: MIT */
/* trace.h - where a thread is: return addresses along the frame pointers, and their names.
 *
 * Names come from the symbol tables of the program and its libraries as they are on disk, so
 * static functions have theirs too. Everything but co_trace_init() is async-signal-safe.
 */
#ifndef CO_TRACE_H
#define CO_TRACE_H

#include <stddef.h>
#include <stdint.h>

enum { CO_TRACE_MAX = 24 };

/* Find the symbol tables. Once, early; without it there are no names and no walks. */
void co_trace_init(void);

/* Where the code was that a signal handler interrupted (its third argument): pc[0] is the very
 * place. Gives how many. Code without frame pointers ends the walk or is left out of it. */
int co_trace_from(const void *ucontext, uintptr_t *pc, int max);

/* Text that a signal handler writes, cut where its room ends. Numbers of base 10, or 16 with 0x. */
struct co_text {
    char *buf;
    size_t size, n;
};
void co_text_add(struct co_text *w, const char *s);
void co_text_number(struct co_text *w, uintptr_t v, unsigned base);

/* "rtmp_read+0x1f < libc.so.6+0x11d2f < 0x7f12"; returns the length, less than size. */
size_t co_trace_text(const uintptr_t *pc, int n, char *buf, size_t size);

#endif
