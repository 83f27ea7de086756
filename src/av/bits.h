/* SPDX-License-Identifier: MIT */
/* bits.h - read a bit string, never past its end.
 *
 * As base/rd.h: a read past the end gives 0 and sets `bad`, and every read after it does the same,
 * so a parser reads a run of fields and asks bits_err() once. What is a loop bound needs a check
 * of its own before it is used.
 *
 * With `nalu` set, emulation prevention bytes are left out while reading ([H.264] 7.4.1.1): the 3
 * of 00 00 03 where one of 00..03 follows. At the end of the data it stays.
 */
#ifndef AV_BITS_H
#define AV_BITS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bits {
    const uint8_t *p, *end;
    uint64_t word;  /* the low `have` bits are to be read next */
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

/* How many bits were read of `data`, what it was made with, not as a NAL unit. */
size_t bits_read(const struct bits *b, const void *data);

err_t bits_err(const struct bits *b, const char *what) __attribute__((warn_unused_result));

#endif
