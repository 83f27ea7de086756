/* SPDX-License-Identifier: MIT */
/* range.h - the part of a file that a request selects (RFC 9110 section 14). */
#ifndef PROTO_HTTP_RANGE_H
#define PROTO_HTTP_RANGE_H

#include <stdbool.h>
#include <stdint.h>

enum http_range {
    HTTP_RANGE_ALL,  /* no range, or one that is answered with the whole file */
    HTTP_RANGE_PART, /* *begin and *end (exclusive) are set */
    HTTP_RANGE_BAD,  /* outside the file: 416 */
};

/* Parses "bytes=0-99", "bytes=100-", "bytes=-100" for a file of this size. Several ranges in one
 * request are answered with the whole file. text may be NULL. */
enum http_range http_range_parse(const char *text, int64_t size, int64_t *begin, int64_t *end);
/* Parses "0-99", the form that players put into a query. */
enum http_range http_range_query(const char *text, int64_t size, int64_t *begin, int64_t *end);

#endif
