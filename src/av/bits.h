/* SPDX-License-Identifier: MIT */
/* bits.h - reads a bit string, never past its end.
 *
 * Works like base/rd.h: a read past the end returns 0 and sets `bad`, and so does every later read.
 * A parser reads all fields and then calls bits_err() once. A value that limits a loop must be
 * checked before the loop.
 *
 * If `nalu` is set, emulation prevention bytes are skipped ([H.264] 7.4.1.1): the 3 of 00 00 03 if
 * one of 00..03 follows. At the end of the data the 3 is not skipped.
 */
#ifndef AV_BITS_H
#define AV_BITS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bits {
    const uint8_t *p, *end;
    uint64_t word;  /* the low `have` bits are read next */
    unsigned have;
    unsigned zeros; /* zero bytes right before p */
    bool nalu;
    bool bad;
};

struct bits bits_init(const void *data, size_t size);
struct bits bits_init_nalu(const void *data, size_t size);

uint32_t bits_u(struct bits *b, unsigned n); /* u(n), n <= 32 */
bool     bits_flag(struct bits *b);
void     bits_skip(struct bits *b, uint64_t n);
uint32_t bits_ue(struct bits *b); /* ue(v), [H.264] 9.1: at most 2^32 - 2 */
int32_t  bits_se(struct bits *b); /* se(v), [H.264] 9.1.1 */

/* Returns the number of bits read so far. `data` is the start of the string. Not for NAL units. */
size_t bits_read(const struct bits *b, const void *data);

err_t bits_err(const struct bits *b, const char *what) __attribute__((warn_unused_result));

#endif
