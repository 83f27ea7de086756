/* SPDX-License-Identifier: MIT */
/* base64.h - RFC 4648 section 4. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include "base/wr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a character stands for, 0 to 63; -1: it is none. */
int base64_digit(char c);

/* Bytes that so many characters become at most. */
#define BASE64_ROOM(n) ((n) / 4 * 3 + 3)

/* Decode into out, which has BASE64_ROOM(n). The padding may be missing, as many write it. False: a
 * character that is none, or one that is alone. */
bool base64_decode(const char *text, size_t n, uint8_t *out, size_t *size);

/* Digits alone, by what they stand for; *left: bits of the last one that are none of a byte. False:
 * as above. */
bool base64_bytes(const char *text, size_t n, int (*digit)(char c), uint8_t *out, size_t *size,
                  uint32_t *left);

void base64_put(struct wr *w, const void *data, size_t size);

#endif
