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
    uint32_t bits = 0;
    unsigned have = 0;

    *size = 0;
    for (size_t i = 0; i < n; i++) {
        int v = value_of(text[i]);

        if (v < 0)
            return false;
        bits = (bits << 6 | (uint32_t)v) & 0xffff;
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[(*size)++] = (uint8_t)(bits >> have);
        }
    }
    return n % 4 != 1 && (bits & ((1u << have) - 1)) == 0;
}
