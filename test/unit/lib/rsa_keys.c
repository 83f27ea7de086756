/* SPDX-License-Identifier: MIT */
/* rsa_keys.c - unusual RSA keys: too long, or with a large exponent. Their primes are Mersenne
 * primes, 2^p - 1, which need no search.
 */
#include "rsa_keys.h"

/* 2^bits - 1 */
static BIGNUM *mersenne(int bits)
{
    BIGNUM *p = BN_new();

    (void)BN_set_bit(p, bits);
    (void)BN_sub_word(p, 1);
    return p;
}

EVP_PKEY *rsa_of(int p, int q, uint64_t exponent)
{
    enum { N, E, D, P, Q, DP, DQ, QINV, PARTS };
    static const char *const names[PARTS] = {
        OSSL_PKEY_PARAM_RSA_N, OSSL_PKEY_PARAM_RSA_E, OSSL_PKEY_PARAM_RSA_D,
        OSSL_PKEY_PARAM_RSA_FACTOR1, OSSL_PKEY_PARAM_RSA_FACTOR2, OSSL_PKEY_PARAM_RSA_EXPONENT1,
        OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
    };
    BIGNUM *v[PARTS] = { [N] = BN_new(), [E] = BN_new(), [P] = mersenne(p), [Q] = mersenne(q),
                         [DP] = BN_new(), [DQ] = BN_new() };
    BIGNUM *p1 = BN_dup(v[P]), *q1 = BN_dup(v[Q]), *phi = BN_new();
    BN_CTX *ctx = BN_CTX_new();
    EVP_PKEY_CTX *make = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    OSSL_PARAM_BLD *b = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    OSSL_PARAM *params;

    (void)BN_sub_word(p1, 1), (void)BN_sub_word(q1, 1), (void)BN_set_word(v[E], exponent);
    (void)BN_mul(v[N], v[P], v[Q], ctx), (void)BN_mul(phi, p1, q1, ctx);
    v[D] = BN_mod_inverse(NULL, v[E], phi, ctx);
    v[QINV] = BN_mod_inverse(NULL, v[Q], v[P], ctx);
    if (v[D]) {
        (void)BN_mod(v[DP], v[D], p1, ctx), (void)BN_mod(v[DQ], v[D], q1, ctx);
        for (int i = 0; i < PARTS; i++)
            (void)OSSL_PARAM_BLD_push_BN(b, names[i], v[i]);
        params = OSSL_PARAM_BLD_to_param(b);
        (void)EVP_PKEY_fromdata_init(make);
        assert_int_equal(EVP_PKEY_fromdata(make, &key, EVP_PKEY_KEYPAIR, params), 1);
        OSSL_PARAM_free(params);
    }
    for (int i = 0; i < PARTS; i++)
        BN_free(v[i]);
    BN_free(p1), BN_free(q1), BN_free(phi);
    OSSL_PARAM_BLD_free(b);
    EVP_PKEY_CTX_free(make);
    BN_CTX_free(ctx);
    return key;
}

EVP_PKEY *rsa_with_large_exponent(void)
{
    EVP_PKEY *key = NULL;

    for (uint64_t e = (UINT64_C(1) << 40) + 1; !key; e += 2)
        key = rsa_of(2203, 607, e);
    return key;
}
