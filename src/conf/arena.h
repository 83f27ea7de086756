/* SPDX-License-Identifier: MIT */
/* arena.h - memory that is given piece by piece and freed at once.
 *
 * A configuration and a tree of directives are each many small things that live and die together.
 * Running out of memory ends the process: sizes are bounded by the limits on the files.
 */
#ifndef CONF_ARENA_H
#define CONF_ARENA_H

#include "conf/settings.h"

#include <stdarg.h>
#include <stddef.h>

struct conf_arena *conf_arena_new(void);
void conf_arena_free(struct conf_arena *a); /* a may be NULL */

/* Zeroed, aligned for anything. Never NULL, also for size 0. */
void *conf_arena_get(struct conf_arena *a, size_t size);
/* n bytes of s with a zero behind. */
char *conf_arena_str(struct conf_arena *a, const char *s, size_t n);
char *conf_arena_dup(struct conf_arena *a, const char *s);
char *conf_arena_printf(struct conf_arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* A copy of the list and of its words. */
struct conf_list conf_arena_list(struct conf_arena *a, const struct conf_list *list);

#endif
