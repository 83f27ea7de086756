/* SPDX-License-Identifier: MIT */
/* obu.h - reads OBUs of AV1, [AV1] 5.3, and writes LEB128 numbers, 4.10.5. */
#ifndef FORMAT_OBU_H
#define FORMAT_OBU_H

#include "base/rd.h"

enum {
    OBU_LEB128_MAX = 8,
    OBU_FRAME_MAX = 1024, /* most OBUs of one frame */
};

struct obu {
    uint8_t type;      /* enum av1_obu */
    uint8_t head[2];   /* its header without the size bit */
    size_t head_size;  /* 1 or 2 */
    const uint8_t *data;
    size_t size;
};

/* Reads the next OBU; only the last one may lack its size. Returns false at the end, or sets
 * r->bad. */
bool obu_next(struct rd *r, struct obu *obu);

/* r->bad: it is none. */
size_t obu_leb128_size(size_t v);
size_t obu_leb128_build(uint8_t *out, size_t v); /* returns obu_leb128_size(v) */

#endif
