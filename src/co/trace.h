/* SPDX-License-Identifier: MIT */
/* trace.h - stack traces: return addresses along the frame pointers, and their names.
 *
 * Names come from the symbol tables of the program and its libraries on disk, so static functions
 * have names too. Everything but co_trace_init() is async-signal-safe.
 */
#ifndef CO_TRACE_H
#define CO_TRACE_H

#include <stddef.h>
#include <stdint.h>

enum { CO_TRACE_MAX = 24 };

/* Loads the symbol tables. Call once, early; without it there are no names and no stack walks. */
void co_trace_init(void);

/* Walks the stack of the code that a signal handler interrupted (`ucontext` is the handler's third
 * argument); pc[0] is the interrupted instruction. Returns the number of addresses. Code without
 * frame pointers ends the walk or is skipped. */
int co_trace_from(const void *ucontext, uintptr_t *pc, int max);

/* Text that a signal handler writes, truncated to the buffer. Numbers have base 10, or 16 with
 * 0x. */
struct co_text {
    char *buf;
    size_t size, n;
};
void co_text_add(struct co_text *w, const char *s);
void co_text_number(struct co_text *w, uintptr_t v, unsigned base);

/* Writes "rtmp_read+0x1f < libc.so.6+0x11d2f < 0x7f12"; returns the length, less than size. */
size_t co_trace_text(const uintptr_t *pc, int n, char *buf, size_t size);

#endif
