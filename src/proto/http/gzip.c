/* SPDX-License-Identifier: MIT */
/* gzip.c - compress a text. */
#include "proto/http/gzip.h"

#include "base/mem.h"

#include <stdlib.h>
#include <zlib.h>

enum {
    LEVEL = 4,           /* half of the time of the usual 6 for a few more bytes */
    WINDOW = 15 + 16,    /* the largest, and a gzip header instead of zlib's */
    MEMORY = 8,
};

bool http_gzip(struct wr *out, const void *data, size_t size)
{
    z_stream z = { .next_in = (Bytef *)(uintptr_t)data, .avail_in = (uInt)size };
    uint8_t *packed;
    int rc;

    if (size > UINT32_MAX / 2)
        return false;
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    packed = mem_try(size);
    if (!packed) {
        (void)deflateEnd(&z);
        return false;
    }
    z.next_out = packed;
    z.avail_out = (uInt)size;
    rc = deflate(&z, Z_FINISH);
    if (rc == Z_STREAM_END)
        wr_bytes(out, packed, size - z.avail_out);
    (void)deflateEnd(&z);
    free(packed);
    return rc == Z_STREAM_END && !out->bad;
}
