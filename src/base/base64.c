/* SPDX-License-Identifier: MIT */
/* base64.c - RFC 4648 sections 4 and 5. */
#include "base/base64.h"

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (c >= '0' && c <= '9')
        return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* *left: the bits of the last digit that do not belong to a byte. */
static bool decode(const char *text, size_t n, bool url, uint8_t *out, size_t *size, uint32_t *left)
{
    uint32_t bits = 0;
    unsigned have = 0;

    *size = 0;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        bool other = c == '-' || c == '_' || c == '+' || c == '/';
        int v = !url || !other ? base64_digit(c) : c == '-' ? 62 : c == '_' ? 63 : -1;

        if (v < 0)
            return false;
        bits = (bits << 6 | (uint32_t)v) & 0xffff;
        have += 6;
        if (have >= 8) {
            have -= 8;
            out[(*size)++] = (uint8_t)(bits >> have);
        }
    }
    *left = bits & ((1u << have) - 1);
    return n % 4 != 1;
}

bool base64_decode(const char *text, size_t n, uint8_t *out, size_t *size)
{
    uint32_t left;

    for (int i = 0; i < 2 && n > 0 && text[n - 1] == '='; i++)
        n--;
    return decode(text, n, false, out, size, &left);
}

bool base64url_decode(const char *text, size_t n, uint8_t *out, size_t *size)
{
    uint32_t left;

    return decode(text, n, true, out, size, &left) && left == 0;
}

void base64_put(struct wr *w, const void *data, size_t size)
{
    const uint8_t *p = data;

    for (; size > 0; p += 3) {
        size_t n = size < 3 ? size : 3;
        uint32_t v = (uint32_t)p[0] << 16 | (n > 1 ? (uint32_t)p[1] << 8 : 0) | (n > 2 ? p[2] : 0);

        wr_u8(w, (uint8_t)letters[v >> 18]);
        wr_u8(w, (uint8_t)letters[v >> 12 & 63]);
        wr_u8(w, (uint8_t)(n > 1 ? letters[v >> 6 & 63] : '='));
        wr_u8(w, (uint8_t)(n > 2 ? letters[v & 63] : '='));
        size -= n;
    }
}
