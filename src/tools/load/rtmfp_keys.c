/* SPDX-License-Identifier: MIT */
/* rtmfp_keys.c - what keys of RTMFP cost, by our code and by OpenSSL as it is: by its keys of type
 * DH over the same primes, with exponents of the length that it chooses. */
#include "tools/load/floor.h"

#include "base/must.h"
#include "proto/rtmfp/group.h"
#include "tools/load/run.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <stdio.h>

enum { TIMES = 500 };

struct cost {
    double pair, secret; /* µs */
};

static double us_since(double from)
{
    return (load_cpu_seconds() - from) * 1e6 / TIMES;
}

static struct cost ours(struct rtmfp_dh *dh, enum rtmfp_group g)
{
    struct rtmfp_pair a, b;
    uint8_t z[RTMFP_PUBLIC_MAX];
    struct cost c;
    double from;

    rtmfp_pair_make(dh, &b, g);
    from = load_cpu_seconds();
    for (int i = 0; i < TIMES; i++)
        rtmfp_pair_make(dh, &a, g);
    c.pair = us_since(from);
    from = load_cpu_seconds();
    for (int i = 0; i < TIMES; i++)
        (void)rtmfp_secret(dh, &a, rtmfp_pair_public(&b), z);
    c.secret = us_since(from);
    return c;
}

static EVP_PKEY *parameters(enum rtmfp_group g)
{
    BIGNUM *two = BN_new();
    BIGNUM *p = g == RTMFP_GROUP_2   ? BN_get_rfc2409_prime_1024(NULL)
                : g == RTMFP_GROUP_5 ? BN_get_rfc3526_prime_1536(NULL)
                                     : BN_get_rfc3526_prime_2048(NULL);
    OSSL_PARAM_BLD *build = must(OSSL_PARAM_BLD_new());
    EVP_PKEY_CTX *ctx = must(EVP_PKEY_CTX_new_from_name(NULL, "DH", NULL));
    EVP_PKEY *out = NULL;
    OSSL_PARAM *list;

    must_be(p && two && BN_set_word(two, 2) == 1 &&
            OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_FFC_P, p) == 1 &&
            OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_FFC_G, two) == 1);
    list = must(OSSL_PARAM_BLD_to_param(build));
    must_be(EVP_PKEY_fromdata_init(ctx) == 1 &&
            EVP_PKEY_fromdata(ctx, &out, EVP_PKEY_KEY_PARAMETERS, list) == 1);
    OSSL_PARAM_free(list);
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_BLD_free(build);
    BN_free(p);
    BN_free(two);
    return out;
}

static struct cost theirs(enum rtmfp_group g)
{
    EVP_PKEY *group = parameters(g), *a = NULL, *b = NULL;
    EVP_PKEY_CTX *make = must(EVP_PKEY_CTX_new(group, NULL)), *derive;
    uint8_t z[RTMFP_PUBLIC_MAX];
    struct cost c;
    double from;

    must_be(EVP_PKEY_keygen_init(make) == 1 && EVP_PKEY_keygen(make, &b) == 1);
    from = load_cpu_seconds();
    for (int i = 0; i < TIMES; i++) {
        EVP_PKEY_free(a);
        a = NULL;
        must_be(EVP_PKEY_keygen(make, &a) == 1);
    }
    c.pair = us_since(from);
    derive = must(EVP_PKEY_CTX_new(a, NULL));
    must_be(EVP_PKEY_derive_init(derive) == 1 &&
            EVP_PKEY_derive_set_peer_ex(derive, b, 0) == 1); /* and do not check its primes */
    from = load_cpu_seconds();
    for (int i = 0; i < TIMES; i++) {
        size_t n = sizeof(z);

        must_be(EVP_PKEY_derive(derive, z, &n) == 1);
    }
    c.secret = us_since(from);
    EVP_PKEY_CTX_free(derive);
    EVP_PKEY_CTX_free(make);
    EVP_PKEY_free(a);
    EVP_PKEY_free(b);
    EVP_PKEY_free(group);
    return c;
}

int load_rtmfp_keys(void)
{
    struct rtmfp_dh *dh = must(rtmfp_dh_new());

    for (int i = 0; i < RTMFP_GROUPS; i++) {
        enum rtmfp_group g = (enum rtmfp_group)i;
        struct cost we = ours(dh, g), they = theirs(g);

        printf("%s\"%u\": {\"pair_us\": %.1f, \"secret_us\": %.1f, \"openssl_pair_us\": %.1f, "
               "\"openssl_secret_us\": %.1f}%s",
               i ? ",\n " : "{", rtmfp_group_id(g), we.pair, we.secret, they.pair, they.secret,
               i + 1 == RTMFP_GROUPS ? "}\n" : "");
    }
    rtmfp_dh_free(dh);
    return 0;
}
