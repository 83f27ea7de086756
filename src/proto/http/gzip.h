/* SPDX-License-Identifier: MIT */
/* gzip.h - compress a text: RFC 1952. */
#ifndef HTTP_GZIP_H
#define HTTP_GZIP_H

#include "base/wr.h"

#include <stdbool.h>

/* Append the compressed form to `out`. False: it would not be smaller, or is over out's limit;
 * what is in `out` is of no use then. Takes about a millisecond for 32 KB. */
bool http_gzip(struct wr *out, const void *data, size_t size);

#endif
