/* SPDX-License-Identifier: MIT */
/* base64.h - RFC 4648 sections 4 and 5. */
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

/* Section 5, as RFC 7515 has it: without padding. False, too: bits at the end that no encoder sets.
 * Each text of bytes has one spelling. */
bool base64url_decode(const char *text, size_t n, uint8_t *out, size_t *size);

void base64_put(struct wr *w, const void *data, size_t size);

#endif
