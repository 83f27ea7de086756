/* SPDX-License-Identifier: MIT */
/* rtmfp_bytes.h - bytes of RTMFP from hex, and a reader's results for truncated input. */
#ifndef RTMFP_BYTES_H
#define RTMFP_BYTES_H

#include "hex.h"
#include "proto/rtmfp/chunks.h"

#include <stdlib.h>

struct rtmfp_hex {
    uint8_t data[1024];
    size_t size;
};

struct rtmfp_hex rtmfp_hex(const char *text);
struct rtmfp_bytes bytes_of(const struct rtmfp_hex *h);
struct rtmfp_bytes text_bytes(const char *text);
void assert_bytes(struct rtmfp_bytes b, const char *hex);

/* Exactly these bytes, so that a sanitizer detects a read after them. */
uint8_t *exact(const uint8_t *data, size_t size);

#endif
