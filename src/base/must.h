/* SPDX-License-Identifier: MIT */
/* must.h - small allocations that cannot fail: without memory for them the process ends.
 *
 * What a peer has sized is checked against a limit before.
 */
#ifndef BASE_MUST_H
#define BASE_MUST_H

#include <stdlib.h>
#include <string.h>

/* What an allocation gave, never NULL: must(calloc(1, sizeof(*x))). */
static inline void *must(void *p)
{
    if (!p)
        abort();
    return p;
}

/* Copies for the caller to free(). */
static inline char *must_dup(const char *text)
{
    return (char *)must(strdup(text));
}

static inline char *must_ndup(const char *text, size_t size)
{
    return (char *)must(strndup(text, size));
}

#endif
