/* SPDX-License-Identifier: MIT */
/* obu.h - OBUs of AV1, [AV1] 5.3, and numbers as they have them, 4.10.5. */
#ifndef FORMAT_OBU_H
#define FORMAT_OBU_H

#include "base/rd.h"

enum {
    OBU_LEB128_MAX = 8,
    OBU_FRAME_MAX = 1024, /* of a frame that we take apart, whatever is in them */
};

struct obu {
    uint8_t type;      /* enum av1_obu */
    uint8_t head[2];   /* its header, as if it had no size */
    size_t head_size;  /* 1 or 2 */
    const uint8_t *data;
    size_t size;
};

/* The next of them, each with its size or the last one without. False: no more, or r->bad. */
bool obu_next(struct rd *r, struct obu *obu);

/* r->bad: it is none. */
size_t obu_leb128_size(size_t v);
size_t obu_leb128_build(uint8_t *out, size_t v); /* gives obu_leb128_size(v) */

#endif
