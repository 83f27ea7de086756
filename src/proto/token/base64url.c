/* SPDX-License-Identifier: MIT */
/* base64url.c - RFC 4648 section 5 without padding. */
#include "proto/token/base64url.h"

#include "base/base64.h"

/* Two are others here. */
static int value_of(char c)
{
    return c == '-' ? 62 : c == '_' ? 63 : c == '+' || c == '/' ? -1 : base64_digit(c);
}

bool base64url_decode(const char *text, size_t n, uint8_t *out, size_t *size)
{
    uint32_t left;

    return base64_bytes(text, n, value_of, out, size, &left) && left == 0;
}
