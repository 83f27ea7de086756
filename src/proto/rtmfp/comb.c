/* SPDX-License-Identifier: MIT */
/* comb.c - powers of 2 modulo a prime, by a table that is read in constant time. */
#include "proto/rtmfp/comb.h"

#include "base/must.h"

#include <openssl/crypto.h>

enum { ROWS = 5, ENTRIES = 1 << ROWS, WORDS_MAX = 32, WORD = 64, BASE = 2 };

/* out = a * b / R. */
static void multiply(BIGNUM *out, const BIGNUM *a, const BIGNUM *b, BN_MONT_CTX *mont, BN_CTX *ctx)
{
    must_be(BN_mod_mul_montgomery(out, a, b, mont, ctx) == 1);
}

/* ---- the table */

/* 2^(2^(row * depth)), in Montgomery's form, of each row. */
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

/* Products of rows and the factor. False: one of them is shorter than the prime. */
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

/* What all the factors of a power come to: factor ^ -(2^depth - 1). */
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

/* Bits of the exponent in this column, one of each row. */
static unsigned column(const struct rtmfp_comb *c, const uint8_t *exponent, size_t size,
                       unsigned at)
{
    unsigned index = 0;

    for (unsigned row = 0; row < ROWS; row++, at += c->depth)
        if (at < size * 8)
            index |= (unsigned)(exponent[size - 1 - at / 8] >> at % 8 & 1) << row;
    return index;
}

/* Two words at a time: compilers do not see by themselves that they may. */
typedef uint64_t pair __attribute__((vector_size(16), may_alias));

/* All entries are read, whichever it is. */
static void choose(struct rtmfp_comb *c, unsigned index)
{
    pair out[WORDS_MAX / 2] = { { 0 } };
    const pair *entry = (const pair *)c->table;
    size_t n = c->words / 2;

    for (unsigned i = 0; i < ENTRIES; i++, entry += n) {
        uint64_t mask = (uint64_t)0 - (((uint64_t)(i ^ index) - 1) >> 63);

        for (size_t k = 0; k < n; k++)
            out[k] |= entry[k] & (pair){ mask, mask };
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
