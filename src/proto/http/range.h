/* SPDX-License-Identifier: MIT */
/* range.h - which part of a file is asked for: RFC 9110 section 14. */
#ifndef PROTO_HTTP_RANGE_H
#define PROTO_HTTP_RANGE_H

#include <stdbool.h>
#include <stdint.h>

enum http_range {
    HTTP_RANGE_ALL,  /* none is asked for, or in a way that is answered by all of it */
    HTTP_RANGE_PART, /* *begin and *end (exclusive) are set */
    HTTP_RANGE_BAD,  /* nothing of it is there: 416 */
};

/* "bytes=0-99", "bytes=100-", "bytes=-100" of a file of that size. Several ranges at once are
 * answered by all of it. text may be NULL. */
enum http_range http_range_parse(const char *text, int64_t size, int64_t *begin, int64_t *end);
/* "0-99", as players put it into a query. */
enum http_range http_range_query(const char *text, int64_t size, int64_t *begin, int64_t *end);

#endif
