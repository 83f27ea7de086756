/* SPDX-License-Identifier: MIT */
/* range.c - the part of a file that a request selects. */
#include "proto/http/range.h"

#include <string.h>
#include <strings.h>

/* Parses digits, saturating at the largest value; -1 if there are none. */
static int64_t number(const char **p)
{
    int64_t v = -1;

    for (; **p >= '0' && **p <= '9'; ++*p) {
        v = v < 0 ? 0 : v;
        v = v > INT64_MAX / 10 - 10 ? INT64_MAX / 10 - 10 : v * 10 + (**p - '0');
    }
    return v;
}

enum http_range http_range_query(const char *text, int64_t size, int64_t *begin, int64_t *end)
{
    const char *p = text;
    int64_t first = number(&p), last;

    if (*p++ != '-')
        return HTTP_RANGE_ALL;
    last = number(&p);
    p += strspn(p, " \t");
    if (*p || (first < 0 && last < 0) || (last >= 0 && first > last))
        return HTTP_RANGE_ALL; /* RFC 9110 14.1.1: an invalid range is ignored */
    if (first < 0) {
        if (last == 0 || size == 0)
            return HTTP_RANGE_BAD;
        *begin = last < size ? size - last : 0;
        *end = size;
        return HTTP_RANGE_PART;
    }
    if (first >= size)
        return HTTP_RANGE_BAD;
    *begin = first;
    *end = last < 0 || last >= size ? size : last + 1;
    return HTTP_RANGE_PART;
}

enum http_range http_range_parse(const char *text, int64_t size, int64_t *begin, int64_t *end)
{
    if (!text || strncasecmp(text, "bytes", 5) != 0)
        return HTTP_RANGE_ALL;
    text += 5 + strspn(text + 5, " \t");
    if (*text++ != '=')
        return HTTP_RANGE_ALL;
    return http_range_query(text + strspn(text, " \t"), size, begin, end);
}
