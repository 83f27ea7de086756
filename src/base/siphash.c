/* SPDX-License-Identifier: MIT */
/* siphash.c - SipHash-2-4, section 2 of its paper: two rounds for each word, four at the end. */
#include "base/siphash.h"

#include "base/must.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/types.h>

enum { WORD = 8 };

void siphash_new_key(uint8_t key[SIPHASH_KEY])
{
    ssize_t n;

    do {
        n = getrandom(key, SIPHASH_KEY, 0);
    } while (n < 0 && errno == EINTR);
    must_be(n == SIPHASH_KEY); /* up to 256 bytes are never cut short */
}

static uint64_t turn(uint64_t v, int n)
{
    return v << n | v >> (64 - n);
}

static void round_of(struct siphash *h)
{
    h->a += h->b;
    h->b = turn(h->b, 13) ^ h->a;
    h->a = turn(h->a, 32);
    h->c += h->d;
    h->d = turn(h->d, 16) ^ h->c;
    h->a += h->d;
    h->d = turn(h->d, 21) ^ h->a;
    h->c += h->b;
    h->b = turn(h->b, 17) ^ h->c;
    h->c = turn(h->c, 32);
}

static void take(struct siphash *h, uint64_t word)
{
    h->d ^= word;
    round_of(h);
    round_of(h);
    h->a ^= word;
}

static uint64_t word_of(const uint8_t *p)
{
    uint64_t v = 0;

    for (int i = WORD - 1; i >= 0; i--)
        v = v << 8 | p[i];
    return v;
}

void siphash_begin(struct siphash *h, const uint8_t key[SIPHASH_KEY])
{
    uint64_t k0 = word_of(key), k1 = word_of(key + WORD);

    *h = (struct siphash){ .a = k0 ^ UINT64_C(0x736f6d6570736575),
                           .b = k1 ^ UINT64_C(0x646f72616e646f6d),
                           .c = k0 ^ UINT64_C(0x6c7967656e657261),
                           .d = k1 ^ UINT64_C(0x7465646279746573) };
}

static void take_byte(struct siphash *h, uint8_t byte)
{
    h->tail |= (uint64_t)byte << 8 * (h->size % WORD);
    h->size++;
    if (h->size % WORD != 0)
        return;
    take(h, h->tail);
    h->tail = 0;
}

void siphash_more(struct siphash *h, const void *data, size_t size)
{
    const uint8_t *p = data, *end = p + size;

    while (p < end && h->size % WORD != 0)
        take_byte(h, *p++);
    for (; end - p >= WORD; p += WORD, h->size += WORD)
        take(h, word_of(p));
    while (p < end)
        take_byte(h, *p++);
}

uint64_t siphash_end(struct siphash *h)
{
    take(h, h->tail | (uint64_t)h->size << 56);
    h->c ^= 0xff;
    for (int i = 0; i < 4; i++)
        round_of(h);
    return h->a ^ h->b ^ h->c ^ h->d;
}

uint64_t siphash(const uint8_t key[SIPHASH_KEY], const void *data, size_t size)
{
    struct siphash h;

    siphash_begin(&h, key);
    siphash_more(&h, data, size);
    return siphash_end(&h);
}
