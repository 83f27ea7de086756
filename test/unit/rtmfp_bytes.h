/* SPDX-License-Identifier: MIT */
/* rtmfp_bytes.h - bytes of RTMFP from hex, and what a reader says of them cut anywhere. */
#ifndef RTMFP_BYTES_H
#define RTMFP_BYTES_H

#include "hex.h"
#include "proto/rtmfp/chunks.h"

#include <stdlib.h>

struct rtmfp_hex {
    uint8_t data[1024];
    size_t size;
};

static inline struct rtmfp_hex rtmfp_hex(const char *text)
{
    struct rtmfp_hex h;

    h.size = hex_bytes(text, h.data, sizeof(h.data));
    return h;
}

static inline struct rtmfp_bytes bytes_of(const struct rtmfp_hex *h)
{
    return rtmfp_bytes(h->data, h->size);
}

static inline struct rtmfp_bytes text_bytes(const char *text)
{
    return rtmfp_bytes(text, strlen(text));
}

static inline void assert_bytes(struct rtmfp_bytes b, const char *hex)
{
    assert_hex(b.p, b.n, hex);
}

/* Just these bytes, so that a sanitizer sees one that is read behind them. */
static inline uint8_t *exact(const uint8_t *data, size_t size)
{
    uint8_t *p = malloc(size ? size : 1);

    assert_non_null(p);
    if (size)
        memcpy(p, data, size);
    return p;
}

#endif
