/* SPDX-License-Identifier: MIT */
/* mutate.c - changes an input at random. */
#include "mutate.h"

#include <string.h>

static uint64_t seed = 88172645463325252u; /* xorshift64 */

#define rnd mutate_random

uint32_t mutate_random(uint32_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)((seed >> 16) % n);
}

void mutate_seed(uint64_t more)
{
    seed ^= more;
}

/* Inserts a piece of another input somewhere. */
static size_t graft(uint8_t *buf, size_t size, size_t most, const struct input *other)
{
    size_t at = rnd((uint32_t)size + 1), from, n;

    if (other->size == 0)
        return size;
    from = rnd((uint32_t)other->size);
    n = 1 + rnd((uint32_t)(other->size - from));
    if (at + n > most)
        n = most - at;
    memcpy(buf + at, other->data + from, n);
    return at + n > size ? at + n : size;
}

/* Repeats the same piece: reveals input that costs more than its size. */
static size_t repeat(uint8_t *buf, size_t size, size_t most)
{
    size_t at = rnd((uint32_t)size), n = 1 + rnd((uint32_t)(size - at < 64 ? size - at : 64));
    size_t wanted = 1 + rnd(rnd(256) ? 512 : (uint32_t)most), more;

    more = wanted / n * n;
    if (more > most - size)
        more = (most - size) / n * n;
    memmove(buf + at + n + more, buf + at + n, size - at - n);
    for (size_t i = 0; i < more; i++)
        buf[at + n + i] = buf[at + i];
    return size + more;
}

size_t mutate(uint8_t *buf, size_t size, size_t most, const struct input *other)
{
    static const uint32_t lengths[] = { 0, 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff,
                                        0xffffff, 0x1000000, 0x7fffffff, 0x80000000, 0xffffffff };
    size_t at = size ? rnd((uint32_t)size) : 0, n;
    uint32_t value;

    switch (rnd(9)) {
    case 0: /* truncate */
        return at;
    case 1: /* flip a bit */
        if (size)
            buf[at] ^= (uint8_t)(1u << rnd(8));
        return size;
    case 2: /* a length that is an edge, of 1 to 4 bytes, big-endian */
        value = lengths[rnd(sizeof(lengths) / sizeof(*lengths))];
        n = 1 + rnd(4);
        for (size_t i = 0; i < n && at + i < size; i++)
            buf[at + i] = (uint8_t)(value >> 8 * (n - 1 - i));
        return size;
    case 3: /* double the tail */
        if (size && size + (size - at) <= most) {
            memmove(buf + size, buf + at, size - at);
            size += size - at;
        }
        return size;
    case 4: /* remove a piece */
        if (size) {
            n = 1 + rnd((uint32_t)(size - at));
            memmove(buf + at, buf + at + n, size - at - n);
            size -= n;
        }
        return size;
    case 5:
        return graft(buf, size, most, other);
    case 6: /* a little more or less */
        if (size)
            buf[at] = (uint8_t)(buf[at] + rnd(9) - 4);
        return size;
    case 7:
        return size ? repeat(buf, size, most) : 0;
    default: /* an additional random byte */
        if (size < most)
            buf[size++] = (uint8_t)rnd(256);
        return size;
    }
}
