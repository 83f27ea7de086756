/* SPDX-License-Identifier: MIT */
/* base64.h - RFC 4648 sections 4 and 5. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/wr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Value of a base64 digit, 0 to 63; -1 if the character is not a digit. */
int base64_digit(char c);

/* Upper limit of the bytes that n characters decode to. */
#define BASE64_ROOM(n) ((n) / 4 * 3 + 3)

/* Decodes into `out`, which has BASE64_ROOM(n) bytes. The padding is optional. Returns false for an
 * invalid character or a single digit at the end. */
bool base64_decode(const char *text, size_t n, uint8_t *out, size_t *size);

/* Decodes the URL-safe alphabet of section 5 without padding (RFC 7515). Also returns false if
 * unused bits at the end are set, so each byte string has exactly one valid encoding. */
bool base64url_decode(const char *text, size_t n, uint8_t *out, size_t *size);

void base64_put(struct wr *w, const void *data, size_t size);

#endif
