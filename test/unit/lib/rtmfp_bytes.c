/* SPDX-License-Identifier: MIT */
/* rtmfp_bytes.c - bytes of RTMFP from hex, and a reader's results for truncated input. */
#include "rtmfp_bytes.h"

struct rtmfp_hex rtmfp_hex(const char *text)
{
    struct rtmfp_hex h;

    h.size = hex_bytes(text, h.data, sizeof(h.data));
    return h;
}

struct rtmfp_bytes bytes_of(const struct rtmfp_hex *h)
{
    return rtmfp_bytes(h->data, h->size);
}

struct rtmfp_bytes text_bytes(const char *text)
{
    return rtmfp_bytes(text, strlen(text));
}

void assert_bytes(struct rtmfp_bytes b, const char *hex)
{
    assert_hex(b.p, b.n, hex);
}

uint8_t *exact(const uint8_t *data, size_t size)
{
    uint8_t *p = malloc(size ? size : 1);

    assert_non_null(p);
    if (size)
        memcpy(p, data, size);
    return p;
}
