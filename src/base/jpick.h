/* SPDX-License-Identifier: MIT */
/* jpick.h - pick strings out of a JSON object that a stranger sent.
 *
 * One pass over the text, without recursion, and without memory for anything but the strings that
 * are asked for. So the cost depends on the size of the text alone, not on how many values it has
 * or how deep they are: about 2 ns per byte.
 */
#ifndef BASE_JPICK_H
#define BASE_JPICK_H

#include <stdbool.h>
#include <stddef.h>

/* ---- is JSON small enough to be parsed: on a small stack, and in a short time? */

/* No object or array is more than `depth` deep in others, and there are at most `values` opening
 * brackets and commas: every value but the first has one of them. The parser calls itself for what
 * is nested and allocates memory for each value, so this is asked first of whatever comes from
 * others. */
bool jpick_is_flat(const char *text, size_t size, int depth, size_t values);

struct jpick {
    const char *key; /* a member of the outermost object; keys with escapes do not match */
    char *text;      /* out: malloc'ed, zero-terminated; NULL: no such member, or no string */
};

/* Values inside other members are skipped, not checked. Of equal keys the last one counts. False,
 * with every text NULL: not a JSON object, or a string that was asked for is not UTF-8, has a NUL,
 * or did not fit into memory. */
bool jpick(const char *json, size_t size, struct jpick *picks, size_t n);

#endif
