/* SPDX-License-Identifier: MIT */
/* hex.c - bytes written as text: "64 63 6261". */
#include "hex.h"

size_t hex_bytes(const char *text, uint8_t *out, size_t room)
{
    size_t n = 0;
    unsigned v;

    for (; *text; text += *text == ' ' ? 1 : 2) {
        if (*text == ' ')
            continue;
        assert_true(n < room && sscanf(text, "%2x", &v) == 1);
        out[n++] = (uint8_t)v;
    }
    return n;
}

void assert_hex(const uint8_t *data, size_t size, const char *want)
{
    uint8_t bytes[2048];
    size_t n = hex_bytes(want, bytes, sizeof(bytes));

    for (size_t i = 0; i < size && i < n; i++)
        if (data[i] != bytes[i])
            fail_msg("byte %zu: %02x, not %02x", i, data[i], bytes[i]);
    assert_int_equal(size, n);
}
