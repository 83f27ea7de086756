/* SPDX-License-Identifier: MIT */
/* mutate.h - changes an input at random. */
#ifndef MUTATE_H
#define MUTATE_H

#include <stddef.h>
#include <stdint.h>

struct input {
    uint8_t *data;
    size_t size;
};

void mutate_seed(uint64_t more);
uint32_t mutate_random(uint32_t n); /* 0..n-1 */
/* One random change. `buf` has room for `most`; a piece of `other` may be inserted.
 * Returns the new size. */
size_t mutate(uint8_t *buf, size_t size, size_t most, const struct input *other);

#endif
