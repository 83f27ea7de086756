/* SPDX-License-Identifier: MIT */
/* jflat.h - is JSON small enough to be parsed: on a small stack, and in a short time? */
#ifndef BASE_JFLAT_H
#define BASE_JFLAT_H

#include <stdbool.h>
#include <stddef.h>

/* No object or array is more than `depth` deep in others, and there are at most `values` opening
 * brackets and commas: every value but the first has one of them. The parser calls itself for what
 * is nested and allocates memory for each value, so this is asked first of whatever comes from
 * others. */
bool jflat_is(const char *text, size_t size, int depth, size_t values);

#endif
