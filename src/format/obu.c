/* SPDX-License-Identifier: MIT */
/* obu.c - reads OBUs of AV1 and writes LEB128 numbers. */
#include "format/obu.h"

#include "av/av1.h"

enum { EXTENSION = 4, HAS_SIZE = 2 };

size_t obu_leb128_size(size_t v)
{
    size_t n = 1;

    for (; v > 0x7f; v >>= 7)
        n++;
    return n;
}

size_t obu_leb128_build(uint8_t *out, size_t v)
{
    size_t n = 0;

    for (; v > 0x7f; v >>= 7)
        out[n++] = (uint8_t)(v | 0x80);
    out[n++] = (uint8_t)v;
    return n;
}

bool obu_next(struct rd *r, struct obu *obu)
{
    uint64_t size;

    if (r->bad || rd_left(r) == 0)
        return false;
    *obu = (struct obu){ .head = { rd_u8(r) }, .head_size = 1 };
    if (obu->head[0] & EXTENSION) {
        obu->head[1] = rd_u8(r);
        obu->head_size = 2;
    }
    size = obu->head[0] & HAS_SIZE ? av1_leb128(r) : rd_left(r);
    obu->head[0] &= (uint8_t)~HAS_SIZE;
    obu->type = obu->head[0] >> 3 & 0x0f;
    if (size > rd_left(r))
        r->bad = true;
    else
        obu->size = (size_t)size;
    obu->data = rd_take(r, obu->size);
    return !r->bad;
}
