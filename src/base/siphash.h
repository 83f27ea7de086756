/* SPDX-License-Identifier: MIT */
/* siphash.h - a hash with a key: who does not know the key can neither choose inputs that collide
 * nor guess what another one gives. Of addresses in tables, and a MAC for what is short-lived.
 *
 * SipHash-2-4: "SipHash: a fast short-input PRF", Aumasson and Bernstein, 2012. No memory.
 */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

enum { SIPHASH_KEY = 16 };

/* One out of the system's random numbers. */
void siphash_new_key(uint8_t key[SIPHASH_KEY]);

uint64_t siphash(const uint8_t key[SIPHASH_KEY], const void *data, size_t size);

/* The same of pieces, one after another: where one ends and the next begins makes no difference. */
struct siphash {
    uint64_t a, b, c, d;
    uint64_t tail; /* bytes that are no whole word yet */
    size_t size;
};

void siphash_begin(struct siphash *h, const uint8_t key[SIPHASH_KEY]);
void siphash_more(struct siphash *h, const void *data, size_t size);
uint64_t siphash_end(struct siphash *h);

#endif
