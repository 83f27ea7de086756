/* SPDX-License-Identifier: MIT */
/* comb.h - powers of 2 modulo a prime, for public keys: half of what any other base costs.
 *
 * The method of Lim and Lee, "More Flexible Exponentiation with Precomputation", 1994: a table of
 * products of 2^(2^(k * depth)), one for each choice of rows of the exponent. All of it is read for
 * each column, and each entry has a factor that makes it as long as the prime: neither where it is
 * nor how long tells anything of the exponent. The power of that factor is taken out at the end.
 */
#ifndef PROTO_RTMFP_COMB_H
#define PROTO_RTMFP_COMB_H

#include <openssl/bn.h>
#include <stddef.h>
#include <stdint.h>

struct rtmfp_comb {
    unsigned depth;  /* bits of a row */
    size_t words;    /* of the prime */
    uint64_t *table; /* NULL: not made yet */
    BIGNUM *undo, *entry, *power;
};
/* For exponents of so many bits. */
void rtmfp_comb_init(struct rtmfp_comb *c, unsigned bits, BN_MONT_CTX *mont, const BIGNUM *prime,
                     BN_CTX *ctx);
void rtmfp_comb_fini(struct rtmfp_comb *c); /* zeros are fine */
/* out = 2 ^ exponent, of `size` big-endian bytes: no more bits than it was made for. */
void rtmfp_comb_power(struct rtmfp_comb *c, BIGNUM *out, const uint8_t *exponent, size_t size,
                      BN_MONT_CTX *mont, BN_CTX *ctx);

#endif
