/* SPDX-License-Identifier: MIT */
/* bits.c - reads a bit string, never past its end. */
#include "av/bits.h"

struct bits bits_init(const void *data, size_t size)
{
    return (struct bits){ .p = data, .end = (const uint8_t *)data + size };
}

struct bits bits_init_nalu(const void *data, size_t size)
{
    struct bits b = bits_init(data, size);

    b.nalu = true;
    return b;
}

/* Adds one byte to the word; false at the end. */
static bool more(struct bits *b)
{
    if (b->nalu && b->zeros >= 2 && b->end - b->p >= 2 && b->p[0] == 3 && b->p[1] <= 3) {
        b->p++;
        b->zeros = 0;
    }
    if (b->p == b->end)
        return false;
    b->zeros = *b->p ? 0 : b->zeros + 1;
    b->word = b->word << 8 | *b->p++;
    b->have += 8;
    return true;
}

uint32_t bits_u(struct bits *b, unsigned n)
{
    while (!b->bad && b->have < n)
        b->bad = !more(b);
    if (b->bad)
        return 0;
    b->have -= n;
    return (uint32_t)(b->word >> b->have & ((UINT64_C(1) << n) - 1));
}

bool bits_flag(struct bits *b)
{
    return bits_u(b, 1);
}

void bits_skip(struct bits *b, uint64_t n)
{
    for (; n > 32 && !b->bad; n -= 32)
        (void)bits_u(b, 32);
    if (!b->bad)
        (void)bits_u(b, (unsigned)n);
}

uint32_t bits_ue(struct bits *b)
{
    unsigned zeros = 0;
    uint32_t rest;

    while (!b->bad && !bits_flag(b)) {
        if (++zeros > 31)
            b->bad = true;
    }
    rest = bits_u(b, zeros);
    return b->bad ? 0 : (uint32_t)((UINT64_C(1) << zeros) - 1 + rest);
}

int32_t bits_se(struct bits *b)
{
    uint32_t k = bits_ue(b);

    return k & 1 ? (int32_t)(k / 2 + 1) : -(int32_t)(k / 2);
}

size_t bits_read(const struct bits *b, const void *data)
{
    return 8 * (size_t)(b->p - (const uint8_t *)data) - b->have;
}

err_t bits_err(const struct bits *b, const char *what)
{
    return b->bad ? err_new(ERR_CODEC, "%s: ends too early, or a code is too long", what) : NULL;
}
