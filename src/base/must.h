/* SPDX-License-Identifier: MIT */
/* must.h - small allocations that cannot fail: the process ends if there is no memory for them.
 *
 * A size from a peer must be checked against a limit first; use mem_try() (mem.h) for it. Nothing
 * else calls abort(); programming errors are assert()s.
 */
#ifndef BASE_MUST_H
#define BASE_MUST_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Prints a message to stderr and ends the process. */
_Noreturn void must_fail(void);

/* Returns the result of an allocation, never NULL: must(calloc(1, sizeof(*x))). */
static inline void *must(void *p)
{
    if (!p)
        must_fail();
    return p;
}

/* For library calls that fail only without memory or random numbers: must_be(f() == 1). */
static inline void must_be(bool done)
{
    if (!done)
        must_fail();
}

/* Makes room for element n of an array of *cap elements of `each` bytes. Returns the new array. */
static inline void *must_room(void *v, size_t n, size_t *cap, size_t each)
{
    if (n < *cap)
        return v;
    *cap = *cap ? *cap * 2 : 16;
    return must(realloc(v, *cap * each));
}

/* Return copies that the caller must free(). */
static inline char *must_dup(const char *text)
{
    return (char *)must(strdup(text));
}

static inline char *must_ndup(const char *text, size_t size)
{
    return (char *)must(strndup(text, size));
}

/* Return a text formatted like printf(), which the caller must free(). */
char *must_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *must_vprint(const char *format, va_list args) __attribute__((format(printf, 1, 0)));

#endif
