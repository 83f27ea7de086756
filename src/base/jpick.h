/* SPDX-License-Identifier: MIT */
/* jpick.h - extracts strings from untrusted JSON objects.
 *
 * One pass over the text, without recursion, that allocates memory only for the requested strings.
 * So the cost depends only on the size of the text, not on the number or depth of its values: about
 * 2 ns per byte.
 */
#ifndef BASE_JPICK_H
#define BASE_JPICK_H

#include <stdbool.h>
#include <stddef.h>

/* ---- check that JSON is small enough to be parsed, on a small stack and in a short time */

/* True if objects and arrays are nested at most `depth` deep, and there are at most `values`
 * opening brackets and commas; every value except the first has one of them. The parser is
 * recursive and allocates memory for each value, so check untrusted text with this function before
 * parsing it. */
bool jpick_is_flat(const char *text, size_t size, int depth, size_t values);

struct jpick {
    const char *key; /* a member of the outermost object; keys with escapes do not match */
    char *text;      /* result: malloc'ed, zero-terminated; NULL: no such member, or not a string */
};

/* Nested values are skipped without validation. If a key repeats, the last member counts. Returns
 * false, with every text NULL, if the text is not a JSON object, a requested string is not UTF-8 or
 * has a NUL, or there is no memory. */
bool jpick(const char *json, size_t size, struct jpick *picks, size_t n);

#endif
