/* SPDX-License-Identifier: MIT */
/* siphash.h - a keyed hash: without the key, a peer can neither choose inputs that collide nor
 * predict a hash. Used for addresses in tables and as a MAC for short-lived data.
 *
 * SipHash-2-4: "SipHash: a fast short-input PRF", Aumasson and Bernstein, 2012. No memory.
 */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

enum { SIPHASH_KEY = 16 };

/* Generates a random key. */
void siphash_new_key(uint8_t key[SIPHASH_KEY]);

uint64_t siphash(const uint8_t key[SIPHASH_KEY], const void *data, size_t size);

/* State of a hash over several pieces. The result is that of the concatenated pieces. */
struct siphash {
    uint64_t a, b, c, d;
    uint64_t tail; /* bytes of an incomplete word */
    size_t size;
};

void siphash_begin(struct siphash *h, const uint8_t key[SIPHASH_KEY]);
void siphash_more(struct siphash *h, const void *data, size_t size);
uint64_t siphash_end(struct siphash *h);

#endif
