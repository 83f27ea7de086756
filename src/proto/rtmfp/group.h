/* SPDX-License-Identifier: MIT */
/* group.h - Diffie-Hellman in groups 2, 5 and 14 ([PROFILE] 4.2, 4.6): key pairs and shared
 * secrets.
 *
 * A secret takes 70 to 270 us and a key pair about 40 % of that, so a server computes them on
 * worker threads. Each thread has its own struct rtmfp_dh; nothing is shared. Exponents are as
 * short as the strength of the group allows, and are processed in constant time.
 */
#ifndef PROTO_RTMFP_GROUP_H
#define PROTO_RTMFP_GROUP_H

#include "proto/rtmfp/vlu.h"

#include <openssl/bn.h>
#include <stddef.h>
#include <stdint.h>

/* Powers of 2 modulo a prime, for public keys: twice as fast as other bases.
 * Uses the method of Lim and Lee, "More Flexible Exponentiation with Precomputation", 1994: a table
 * of products of 2^(2^(k * depth)), one for each combination of rows of the exponent. For each
 * column the whole table is read, and each entry has a factor that makes it as long as the prime,
 * so neither its position nor its length reveals the exponent. The power of this factor is removed
 * at the end. */
struct rtmfp_comb {
    unsigned depth;  /* bits of a row */
    size_t words;    /* size of the prime, in words */
    uint64_t *table; /* NULL: not created yet */
    BIGNUM *undo, *entry, *power;
};
/* Creates the table for exponents of `bits` bits. */
void rtmfp_comb_init(struct rtmfp_comb *c, unsigned bits, BN_MONT_CTX *mont, const BIGNUM *prime,
                     BN_CTX *ctx);
void rtmfp_comb_fini(struct rtmfp_comb *c); /* works on a zeroed struct */
/* Computes out = 2 ^ exponent. The exponent has `size` big-endian bytes, and no more bits than the
 * table supports. */
void rtmfp_comb_power(struct rtmfp_comb *c, BIGNUM *out, const uint8_t *exponent, size_t size,
                      BN_MONT_CTX *mont, BN_CTX *ctx);

enum rtmfp_group {
    RTMFP_GROUP_2, RTMFP_GROUP_5, RTMFP_GROUP_14, /* 1024, 1536 and 2048 bits */
    RTMFP_GROUPS,                                 /* number of groups; also: unknown group */
};
enum {
    RTMFP_PUBLIC_MAX = 256, RTMFP_EXPONENT_MAX = 40, /* bytes */
};

/* Convert to and from the group ids in options; RTMFP_GROUPS for an unknown id. */
enum rtmfp_group rtmfp_group_of(uint64_t id);
uint8_t rtmfp_group_id(enum rtmfp_group g);
size_t rtmfp_group_size(enum rtmfp_group g); /* bytes of a public key; largest size of a secret */

/* Writes an option with a group id and a public key. */
void rtmfp_group_write_key(struct wr *w, uint64_t type, enum rtmfp_group g, struct rtmfp_bytes key);

struct rtmfp_dh;
struct rtmfp_dh *rtmfp_dh_new(void);
void rtmfp_dh_free(struct rtmfp_dh *dh); /* NULL is allowed */

/* A key pair. Wipe it with rtmfp_pair_wipe() after use. */
struct rtmfp_pair {
    enum rtmfp_group group;
    uint8_t secret[RTMFP_EXPONENT_MAX];  /* big-endian */
    uint8_t public[RTMFP_PUBLIC_MAX];    /* rtmfp_group_size() bytes, with leading zeros */
};
void rtmfp_pair_make(struct rtmfp_dh *dh, struct rtmfp_pair *out, enum rtmfp_group g);
/* Replaces the pair with the one whose secret is larger by one: very cheap, and insecure. For load
 * tools. */
void rtmfp_pair_step(struct rtmfp_dh *dh, struct rtmfp_pair *pair);
struct rtmfp_bytes rtmfp_pair_public(const struct rtmfp_pair *pair);
void rtmfp_pair_wipe(struct rtmfp_pair *pair);

/* Validates a public key, [PROFILE] 4.6.2, with or without leading zeros. */
bool rtmfp_public_is_valid(struct rtmfp_dh *dh, enum rtmfp_group g, struct rtmfp_bytes key);
/* Computes the shared secret in z, which has RTMFP_PUBLIC_MAX bytes. Returns its size without
 * leading zeros, or 0 if the public key is invalid. */
size_t rtmfp_secret(struct rtmfp_dh *dh, const struct rtmfp_pair *ours, struct rtmfp_bytes theirs,
                    uint8_t *z);

/* ---- key pairs created in advance, in idle time; each is used once */

enum { RTMFP_POOL_MAX = 1024 };
struct rtmfp_pool {
    size_t n, most;
    struct rtmfp_pair *pairs;
};
void rtmfp_pool_init(struct rtmfp_pool *p, size_t most); /* `most` is limited to RTMFP_POOL_MAX */
void rtmfp_pool_fini(struct rtmfp_pool *p);
static inline bool rtmfp_pool_wants(const struct rtmfp_pool *p)
{
    return p->n < p->most;
}
void rtmfp_pool_put(struct rtmfp_pool *p, struct rtmfp_pair *pair); /* wipes the caller's copy */
bool rtmfp_pool_take(struct rtmfp_pool *p, struct rtmfp_pair *out); /* false if the pool is empty */

#endif
