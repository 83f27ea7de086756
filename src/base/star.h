/* SPDX-License-Identifier: MIT */
/* star.h - names with a star at the end: it stands for whatever follows. */
#ifndef BASE_STAR_H
#define BASE_STAR_H

#include <stdbool.h>
#include <string.h>

/* Is it that text, or does it begin with what is before the star? */
static inline bool star_is_for(const char *pattern, const char *text)
{
    size_t n = strlen(pattern);

    if (n > 0 && pattern[n - 1] == '*')
        return strncmp(pattern, text, n - 1) == 0;
    return strcmp(pattern, text) == 0;
}

#endif
