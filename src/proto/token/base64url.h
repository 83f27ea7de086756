/* SPDX-License-Identifier: MIT */
/* base64url.h - RFC 4648 section 5, as RFC 7515 has it: without padding. */
#ifndef TOKEN_BASE64URL_H
#define TOKEN_BASE64URL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that so many characters become at most. */
#define BASE64URL_ROOM(n) ((n) / 4 * 3 + 3)

/* Decode into out, which has BASE64URL_ROOM(n). False: a character that is none, or bits at the end
 * that no encoder sets. Each text of bytes has one spelling. */
bool base64url_decode(const char *text, size_t n, uint8_t *out, size_t *size);

#endif
