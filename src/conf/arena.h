/* SPDX-License-Identifier: MIT */
/* arena.h - memory allocated in pieces and freed all at once.
 *
 * Holds the many small objects of a configuration or of a tree of directives.
 * The process ends if memory runs out; the limits on file sizes bound the arena.
 */
#ifndef CONF_ARENA_H
#define CONF_ARENA_H

#include "conf/settings.h"

#include <stdarg.h>
#include <stddef.h>

struct conf_arena *conf_arena_new(void);
void conf_arena_free(struct conf_arena *a); /* a may be NULL */

/* Returns zeroed memory, aligned for any type. Never NULL, even for size 0. */
void *conf_arena_get(struct conf_arena *a, size_t size);
/* Copies n bytes of s and terminates them with a zero. */
char *conf_arena_str(struct conf_arena *a, const char *s, size_t n);
char *conf_arena_dup(struct conf_arena *a, const char *s);
char *conf_arena_printf(struct conf_arena *a, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* Copies the list and its words. */
struct conf_list conf_arena_list(struct conf_arena *a, const struct conf_list *list);

#endif
