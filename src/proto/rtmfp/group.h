/* SPDX-License-Identifier: MIT */
/* group.h - Diffie-Hellman in groups 2, 5 and 14 ([PROFILE] 4.2, 4.6): pairs and secrets.
 *
 * A secret costs 70 to 270 us and a pair some 40 % of that, so a server has them made by helper
 * threads. What one thread needs for that is a struct rtmfp_dh of its own; nothing is shared.
 * Exponents are short: as long as the group is worth, and computed with in constant time.
 */
#ifndef PROTO_RTMFP_GROUP_H
#define PROTO_RTMFP_GROUP_H

#include "proto/rtmfp/vlu.h"

#include <openssl/bn.h>
#include <stddef.h>
#include <stdint.h>

/* Powers of 2 modulo a prime, for public keys: half of what any other base costs.
 *
 * The method of Lim and Lee, "More Flexible Exponentiation with Precomputation", 1994: a table of
 * products of 2^(2^(k * depth)), one for each choice of rows of the exponent. All of it is read for
 * each column, and each entry has a factor that makes it as long as the prime: neither where it is
 * nor how long tells anything of the exponent. The power of that factor is taken out at the end. */
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

enum rtmfp_group {
    RTMFP_GROUP_2, RTMFP_GROUP_5, RTMFP_GROUP_14, /* 1024, 1536 and 2048 bits */
    RTMFP_GROUPS,                                 /* how many; or none of them */
};
enum {
    RTMFP_PUBLIC_MAX = 256, RTMFP_EXPONENT_MAX = 40, /* bytes */
};

/* Their numbers in options, there and back; RTMFP_GROUPS: not one of ours. */
enum rtmfp_group rtmfp_group_of(uint64_t id);
uint8_t rtmfp_group_id(enum rtmfp_group g);
size_t rtmfp_group_size(enum rtmfp_group g); /* bytes of a public key, and of a secret at most */

/* An option that is a group and a public key in it. */
void rtmfp_group_write_key(struct wr *w, uint64_t type, enum rtmfp_group g, struct rtmfp_bytes key);

struct rtmfp_dh;
struct rtmfp_dh *rtmfp_dh_new(void);
void rtmfp_dh_free(struct rtmfp_dh *dh); /* NULL is fine */

/* Wipe it (rtmfp_pair_wipe()) when it is done with. */
struct rtmfp_pair {
    enum rtmfp_group group;
    uint8_t secret[RTMFP_EXPONENT_MAX];  /* big-endian */
    uint8_t public[RTMFP_PUBLIC_MAX];    /* of rtmfp_group_size(), zeros in front */
};
void rtmfp_pair_make(struct rtmfp_dh *dh, struct rtmfp_pair *out, enum rtmfp_group g);
/* The one whose secret is one more: nearly for nothing, and worth as little. For load tools. */
void rtmfp_pair_step(struct rtmfp_dh *dh, struct rtmfp_pair *pair);
struct rtmfp_bytes rtmfp_pair_public(const struct rtmfp_pair *pair);
void rtmfp_pair_wipe(struct rtmfp_pair *pair);

/* May this be a public key, [PROFILE] 4.6.2? With or without zeros in front. */
bool rtmfp_public_is_fine(struct rtmfp_dh *dh, enum rtmfp_group g, struct rtmfp_bytes key);
/* To z, of RTMFP_PUBLIC_MAX bytes; the size, without zeros in front. 0: it is not a public key. */
size_t rtmfp_secret(struct rtmfp_dh *dh, const struct rtmfp_pair *ours, struct rtmfp_bytes theirs,
                    uint8_t *z);

/* ---- pairs made ahead, when there is nothing else to do: each is given out once */

enum { RTMFP_POOL_MAX = 1024 };
struct rtmfp_pool {
    size_t n, most;
    struct rtmfp_pair *pairs;
};
void rtmfp_pool_init(struct rtmfp_pool *p, size_t most); /* most RTMFP_POOL_MAX */
void rtmfp_pool_fini(struct rtmfp_pool *p);
static inline bool rtmfp_pool_wants(const struct rtmfp_pool *p)
{
    return p->n < p->most;
}
void rtmfp_pool_put(struct rtmfp_pool *p, struct rtmfp_pair *pair); /* wipes the caller's */
bool rtmfp_pool_take(struct rtmfp_pool *p, struct rtmfp_pair *out); /* false: there is none */

#endif
