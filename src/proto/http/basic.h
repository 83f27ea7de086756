/* SPDX-License-Identifier: MIT */
/* basic.h - HTTP Basic authentication (RFC 7617), and a comparison of secrets in constant time. */
#ifndef PROTO_HTTP_BASIC_H
#define PROTO_HTTP_BASIC_H

#include "base/wr.h"

#include <stdbool.h>
#include <stddef.h>

enum { HTTP_BASIC_MAX = 1024 };

/* Decodes "Basic bmFtZTpwYXNzd29yZA==" to "name:password", zero-terminated. value may be NULL.
 * Returns false if it is not Basic or contains a zero byte. */
bool http_basic_get(const char *value, char out[HTTP_BASIC_MAX], size_t *size);
/* Writes the field's value for a text of up to HTTP_BASIC_MAX / 2 bytes. */
void http_basic_put(struct wr *w, const char *name_and_password);

/* Compares two secrets. The time it takes reveals neither their bytes nor their length. */
bool http_basic_same(const void *a, size_t a_size, const void *b, size_t b_size);

#endif
