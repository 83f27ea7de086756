/* SPDX-License-Identifier: MIT */
/* basic.h - a name and a password in one field: RFC 7617; and how secrets are compared. */
#ifndef PROTO_HTTP_BASIC_H
#define PROTO_HTTP_BASIC_H

#include "base/wr.h"

#include <stdbool.h>
#include <stddef.h>

enum { HTTP_BASIC_MAX = 1024 };

/* "name:password" out of "Basic bmFtZTpwYXNzd29yZA==", with a 0 behind it; NULL is fine. False: it
 * is none, or has a byte 0. */
bool http_basic_get(const char *value, char out[HTTP_BASIC_MAX], size_t *size);
/* The value of the field, of a text of up to HTTP_BASIC_MAX / 2 bytes. */
void http_basic_put(struct wr *w, const char *name_and_password);

/* The time it takes tells nothing of the bytes, nor of how many they are. */
bool http_basic_same(const void *a, size_t a_size, const void *b, size_t b_size);

#endif
