/* SPDX-License-Identifier: MIT */
/* group.c - Diffie-Hellman in groups 2, 5 and 14, [PROFILE] 4.2 and 4.6. */
#include "proto/rtmfp/group.h"

#include "base/must.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

/* ---- powers of 2 modulo a prime, with a table that is read in constant time */

enum { ROWS = 5, ENTRIES = 1 << ROWS, WORDS_MAX = 32, WORD = 64, BASE = 2 };

/* out = a * b / R. */
static void multiply(BIGNUM *out, const BIGNUM *a, const BIGNUM *b, BN_MONT_CTX *mont, BN_CTX *ctx)
{
    must_be(BN_mod_mul_montgomery(out, a, b, mont, ctx) == 1);
}

/* ---- the table */

/* Computes 2^(2^(row * depth)) for each row, in Montgomery form. */
static void make_rows(BIGNUM *rows[ROWS], unsigned depth, BN_MONT_CTX *mont, BN_CTX *ctx)
{
    for (int row = 0; row < ROWS; row++) {
        rows[row] = must(BN_new());
        if (row == 0) {
            must_be(BN_set_word(rows[0], BASE) == 1 &&
                    BN_to_montgomery(rows[0], rows[0], mont, ctx) == 1);
            continue;
        }
        must_be(BN_copy(rows[row], rows[row - 1]) != NULL);
        for (unsigned i = 0; i < depth; i++)
            multiply(rows[row], rows[row], rows[row], mont, ctx);
    }
}

/* Fills the table with products of rows and the factor. Returns false if one is shorter than the
 * prime. */
static bool fill(struct rtmfp_comb *c, BIGNUM *const rows[ROWS], const BIGNUM *factor,
                 BN_MONT_CTX *mont, BN_CTX *ctx)
{
    int size = (int)(c->words * sizeof(uint64_t));

    for (unsigned i = 0; i < ENTRIES; i++) {
        must_be(BN_to_montgomery(c->entry, factor, mont, ctx) == 1);
        for (int row = 0; row < ROWS; row++)
            if (i >> row & 1)
                multiply(c->entry, c->entry, rows[row], mont, ctx);
        if ((size_t)BN_num_bits(c->entry) <= (c->words - 1) * WORD)
            return false;
        must_be(BN_bn2lebinpad(c->entry, (uint8_t *)(c->table + i * c->words), size) == size);
    }
    return true;
}

/* Computes the correction for all factors of a power: factor ^ -(2^depth - 1). */
static void make_undo(struct rtmfp_comb *c, const BIGNUM *factor, BN_MONT_CTX *mont,
                      const BIGNUM *prime, BN_CTX *ctx)
{
    BN_zero(c->power);
    must_be(BN_set_bit(c->power, (int)c->depth) == 1 && BN_sub_word(c->power, 1) == 1);
    must_be(BN_mod_exp_mont(c->undo, factor, c->power, prime, ctx, mont) == 1);
    (void)must(BN_mod_inverse(c->undo, c->undo, prime, ctx));
}

void rtmfp_comb_init(struct rtmfp_comb *c, unsigned bits, BN_MONT_CTX *mont, const BIGNUM *prime,
                     BN_CTX *ctx)
{
    BIGNUM *rows[ROWS], *factor = must(BN_new());

    c->depth = (bits + ROWS - 1) / ROWS;
    c->words = (size_t)(BN_num_bits(prime) + WORD - 1) / WORD;
    c->table = must(calloc(ENTRIES * c->words, sizeof(*c->table)));
    c->undo = must(BN_new());
    c->entry = must(BN_new());
    c->power = must(BN_new());
    make_rows(rows, c->depth, mont, ctx);
    do
        must_be(BN_rand_range(factor, prime) == 1);
    while (BN_is_zero(factor) || !fill(c, rows, factor, mont, ctx));
    make_undo(c, factor, mont, prime, ctx);
    for (int row = 0; row < ROWS; row++)
        BN_free(rows[row]);
    BN_clear_free(factor);
}

void rtmfp_comb_fini(struct rtmfp_comb *c)
{
    free(c->table);
    BN_free(c->undo);
    BN_clear_free(c->entry);
    BN_clear_free(c->power);
    *c = (struct rtmfp_comb){ .table = NULL };
}

/* ---- powers */

/* Bits of the exponent in this column, one per row. */
static unsigned column(const struct rtmfp_comb *c, const uint8_t *exponent, size_t size,
                       unsigned at)
{
    unsigned index = 0;

    for (unsigned row = 0; row < ROWS; row++, at += c->depth)
        if (at < size * 8)
            index |= (unsigned)(exponent[size - 1 - at / 8] >> at % 8 & 1) << row;
    return index;
}

/* Two words at a time, because compilers do not find this optimization themselves. */
typedef uint64_t two_words __attribute__((vector_size(16), may_alias));

/* Selects an entry by reading all entries. */
static void choose(struct rtmfp_comb *c, unsigned index)
{
    two_words out[WORDS_MAX / 2] = { { 0 } };
    const two_words *entry = (const two_words *)c->table;
    size_t n = c->words / 2;

    for (unsigned i = 0; i < ENTRIES; i++, entry += n) {
        uint64_t mask = (uint64_t)0 - (((uint64_t)(i ^ index) - 1) >> 63);

        for (size_t k = 0; k < n; k++)
            out[k] |= entry[k] & (two_words){ mask, mask };
    }
    (void)must(BN_lebin2bn((const uint8_t *)out, (int)(n * sizeof(*out)), c->entry));
    OPENSSL_cleanse(out, sizeof(out));
}

void rtmfp_comb_power(struct rtmfp_comb *c, BIGNUM *out, const uint8_t *exponent, size_t size,
                      BN_MONT_CTX *mont, BN_CTX *ctx)
{
    unsigned at = c->depth - 1;

    choose(c, column(c, exponent, size, at));
    must_be(BN_copy(c->power, c->entry) != NULL);
    while (at-- > 0) {
        multiply(c->power, c->power, c->power, mont, ctx);
        choose(c, column(c, exponent, size, at));
        multiply(c->power, c->power, c->entry, mont, ctx);
    }
    multiply(out, c->power, c->undo, mont, ctx);
    BN_clear(c->power);
    BN_clear(c->entry);
}

enum { MARGIN_BITS = 24, BITS_MIN = 16 };

static const struct {
    uint8_t id;
    uint16_t size, exponent; /* bytes */
    BIGNUM *(*prime)(BIGNUM *);
} groups[RTMFP_GROUPS] = {
    [RTMFP_GROUP_2] = { 2, 128, 28, BN_get_rfc2409_prime_1024 },
    [RTMFP_GROUP_5] = { 5, 192, 30, BN_get_rfc3526_prime_1536 },
    [RTMFP_GROUP_14] = { 14, 256, 40, BN_get_rfc3526_prime_2048 },
};

enum rtmfp_group rtmfp_group_of(uint64_t id)
{
    int g = 0;

    while (g < RTMFP_GROUPS && groups[g].id != id)
        g++;
    return (enum rtmfp_group)g;
}

uint8_t rtmfp_group_id(enum rtmfp_group g)
{
    return groups[g].id;
}

size_t rtmfp_group_size(enum rtmfp_group g)
{
    return groups[g].size;
}

void rtmfp_group_write_key(struct wr *w, uint64_t type, enum rtmfp_group g, struct rtmfp_bytes key)
{
    uint8_t id = rtmfp_group_id(g);

    rtmfp_vlu_write(w, rtmfp_vlu_size(type) + 1 + key.n);
    rtmfp_vlu_write(w, type);
    wr_u8(w, id);
    wr_bytes(w, key.p, key.n);
}

/* ---- state of a thread */

struct rtmfp_dh {
    BN_CTX *ctx;
    BIGNUM *exponent, *base, *result;
    struct {
        BIGNUM *prime, *least, *most; /* range of valid public keys */
        BN_MONT_CTX *mont;
        struct rtmfp_comb comb; /* created with the first pair */
    } of[RTMFP_GROUPS];
};

static BIGNUM *number(void)
{
    return must(BN_new());
}

static void prepare(struct rtmfp_dh *dh, int g)
{
    BIGNUM *prime = must(groups[g].prime(NULL)), *least = number(), *most = number();

    must_be(BN_set_bit(least, MARGIN_BITS) == 1 && BN_sub(most, prime, least) == 1);
    dh->of[g].prime = prime;
    dh->of[g].least = least;
    dh->of[g].most = most;
    dh->of[g].mont = must(BN_MONT_CTX_new());
    must_be(BN_MONT_CTX_set(dh->of[g].mont, prime, dh->ctx) == 1);
}

struct rtmfp_dh *rtmfp_dh_new(void)
{
    struct rtmfp_dh *dh = must(calloc(1, sizeof(*dh)));

    dh->ctx = must(BN_CTX_new());
    dh->exponent = must(BN_secure_new());
    dh->base = number();
    dh->result = number();
    for (int g = 0; g < RTMFP_GROUPS; g++)
        prepare(dh, g);
    return dh;
}

void rtmfp_dh_free(struct rtmfp_dh *dh)
{
    if (!dh)
        return;
    for (int g = 0; g < RTMFP_GROUPS; g++) {
        BN_free(dh->of[g].prime);
        BN_free(dh->of[g].least);
        BN_free(dh->of[g].most);
        BN_MONT_CTX_free(dh->of[g].mont);
        rtmfp_comb_fini(&dh->of[g].comb);
    }
    BN_clear_free(dh->exponent);
    BN_free(dh->base);
    BN_clear_free(dh->result);
    BN_CTX_free(dh->ctx);
    free(dh);
}

/* ---- key pairs */

static void keep_public(const struct rtmfp_dh *dh, struct rtmfp_pair *pair)
{
    int size = (int)rtmfp_group_size(pair->group);

    must_be(BN_bn2binpad(dh->result, pair->public, size) == size);
}

void rtmfp_pair_make(struct rtmfp_dh *dh, struct rtmfp_pair *out, enum rtmfp_group g)
{
    struct rtmfp_comb *comb = &dh->of[g].comb;

    *out = (struct rtmfp_pair){ .group = g };
    must_be(RAND_priv_bytes(out->secret, groups[g].exponent) == 1);
    if (!comb->table)
        rtmfp_comb_init(comb, groups[g].exponent * 8u, dh->of[g].mont, dh->of[g].prime, dh->ctx);
    rtmfp_comb_power(comb, dh->result, out->secret, groups[g].exponent, dh->of[g].mont, dh->ctx);
    keep_public(dh, out);
}

void rtmfp_pair_step(struct rtmfp_dh *dh, struct rtmfp_pair *pair)
{
    struct rtmfp_bytes public = rtmfp_pair_public(pair);
    size_t i = groups[pair->group].exponent;

    while (i > 0 && ++pair->secret[i - 1] == 0)
        i--;
    (void)must(BN_bin2bn(public.p, (int)public.n, dh->result));
    must_be(BN_mod_lshift1_quick(dh->result, dh->result, dh->of[pair->group].prime) == 1);
    keep_public(dh, pair);
}

struct rtmfp_bytes rtmfp_pair_public(const struct rtmfp_pair *pair)
{
    return rtmfp_bytes(pair->public, rtmfp_group_size(pair->group));
}

void rtmfp_pair_wipe(struct rtmfp_pair *pair)
{
    OPENSSL_cleanse(pair, sizeof(*pair));
}

/* ---- shared secrets */

static int ones(struct rtmfp_bytes key)
{
    int n = 0;

    for (size_t i = 0; i < key.n; i++)
        n += __builtin_popcount(key.p[i]);
    return n;
}

bool rtmfp_public_is_valid(struct rtmfp_dh *dh, enum rtmfp_group g, struct rtmfp_bytes key)
{
    int n;

    while (key.n > 0 && *key.p == 0) {
        key.p++;
        key.n--;
    }
    if (g >= RTMFP_GROUPS || key.n == 0 || key.n > rtmfp_group_size(g))
        return false;
    (void)must(BN_bin2bn(key.p, (int)key.n, dh->base));
    n = ones(key);
    return BN_cmp(dh->base, dh->of[g].least) >= 0 && BN_cmp(dh->base, dh->of[g].most) <= 0 &&
           n >= BITS_MIN && BN_num_bits(dh->base) - n >= BITS_MIN;
}

/* Computes dh->result = theirs ^ ours. */
static void power(struct rtmfp_dh *dh, const struct rtmfp_pair *ours, const BIGNUM *theirs)
{
    enum rtmfp_group g = ours->group;

    (void)must(BN_bin2bn(ours->secret, groups[g].exponent, dh->exponent));
    BN_set_flags(dh->exponent, BN_FLG_CONSTTIME);
    must_be(BN_mod_exp_mont_consttime(dh->result, theirs, dh->exponent, dh->of[g].prime, dh->ctx,
                                      dh->of[g].mont) == 1);
    BN_clear(dh->exponent);
}

size_t rtmfp_secret(struct rtmfp_dh *dh, const struct rtmfp_pair *ours, struct rtmfp_bytes theirs,
                    uint8_t *z)
{
    size_t size;

    if (!rtmfp_public_is_valid(dh, ours->group, theirs))
        return 0;
    power(dh, ours, dh->base);
    size = (size_t)BN_bn2bin(dh->result, z);
    BN_clear(dh->result);
    return size;
}

/* ---- key pairs created in advance */

void rtmfp_pool_init(struct rtmfp_pool *p, size_t most)
{
    *p = (struct rtmfp_pool){ .most = most < RTMFP_POOL_MAX ? most : RTMFP_POOL_MAX };
    p->pairs = must(calloc(p->most ? p->most : 1, sizeof(*p->pairs)));
}

void rtmfp_pool_fini(struct rtmfp_pool *p)
{
    OPENSSL_cleanse(p->pairs, p->most * sizeof(*p->pairs));
    free(p->pairs);
    *p = (struct rtmfp_pool){ .most = 0 };
}

void rtmfp_pool_put(struct rtmfp_pool *p, struct rtmfp_pair *pair)
{
    if (rtmfp_pool_wants(p))
        p->pairs[p->n++] = *pair;
    rtmfp_pair_wipe(pair);
}

bool rtmfp_pool_take(struct rtmfp_pool *p, struct rtmfp_pair *out)
{
    if (p->n == 0)
        return false;
    *out = p->pairs[--p->n];
    rtmfp_pair_wipe(&p->pairs[p->n]);
    return true;
}
