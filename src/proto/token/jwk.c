/* SPDX-License-Identifier: MIT */
/* jwk.c - parses the public keys of a JWKS file. */
#include "proto/token/jwk.h"

#include "base/base64.h"
#include "base/jpick.h"
#include "base/must.h"

#include <jansson.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/param_build.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    DEPTH = 8, VALUES = 4096, COORDINATE = 32, NUMBER = JWK_RSA_MAX / 8 + 1, EXPONENT_BITS = 32,
};

/* Decodes a base64url member: at most `most` bytes into buf, which has BASE64_ROOM for them. */
static bool bytes_of(const json_t *k, const char *member, uint8_t *buf, size_t most, size_t *size)
{
    const json_t *v = json_object_get(k, member);
    size_t n = json_string_length(v);

    return n > 0 && BASE64_ROOM(n) <= BASE64_ROOM(most * 4 / 3 + 1) &&
           base64url_decode(json_string_value(v), n, buf, size) && *size <= most;
}

static bool is(const json_t *k, const char *member, const char *text)
{
    const char *v = json_string_value(json_object_get(k, member));

    return v && strcmp(v, text) == 0;
}

/* A missing member is acceptable. */
static bool is_or_none(const json_t *k, const char *member, const char *text)
{
    return !json_object_get(k, member) || is(k, member, text);
}

static bool may_verify(const json_t *k)
{
    const json_t *ops = json_object_get(k, "key_ops");
    size_t n = json_array_size(ops), i = 0;

    while (i < n && (!json_string_value(json_array_get(ops, i)) ||
                     strcmp(json_string_value(json_array_get(ops, i)), "verify") != 0))
        i++;
    return !ops || i < n;
}

/* Creates a key from parameters; returns NULL if the library rejects them. */
static EVP_PKEY *make(const char *kind, OSSL_PARAM_BLD *b)
{
    EVP_PKEY_CTX *ctx = must(EVP_PKEY_CTX_new_from_name(NULL, kind, NULL));
    OSSL_PARAM *params = must(OSSL_PARAM_BLD_to_param(b));
    EVP_PKEY *key = NULL;

    if (EVP_PKEY_fromdata_init(ctx) != 1 ||
        EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY, params) != 1)
        key = NULL;
    OSSL_PARAM_free(params);
    EVP_PKEY_CTX_free(ctx);
    ERR_clear_error();
    return key;
}

static const char *rsa_fault(const BIGNUM *n, const BIGNUM *e)
{
    if (BN_num_bits(n) < JWK_RSA_MIN)
        return "RSA of less than 2048 bits";
    if (BN_num_bits(n) > JWK_RSA_MAX)
        return "RSA of more than 4096 bits";
    if (!BN_is_odd(n) || !BN_is_odd(e) || BN_is_one(e) || BN_num_bits(e) > EXPONENT_BITS)
        return "invalid RSA key";
    return NULL;
}

static const char *make_rsa(const json_t *k, EVP_PKEY **out)
{
    uint8_t n[BASE64_ROOM(NUMBER * 4 / 3 + 1)], e[BASE64_ROOM(NUMBER * 4 / 3 + 1)];
    size_t n_size, e_size;
    OSSL_PARAM_BLD *b;
    BIGNUM *bn, *be;
    const char *fault;

    if (!bytes_of(k, "n", n, NUMBER, &n_size) || !bytes_of(k, "e", e, NUMBER, &e_size))
        return "n or e is missing, too long or not base64url";
    bn = must(BN_bin2bn(n, (int)n_size, NULL));
    be = must(BN_bin2bn(e, (int)e_size, NULL));
    b = must(OSSL_PARAM_BLD_new());
    must_be(OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_RSA_N, bn));
    must_be(OSSL_PARAM_BLD_push_BN(b, OSSL_PKEY_PARAM_RSA_E, be));
    fault = rsa_fault(bn, be);
    *out = fault ? NULL : make("RSA", b);
    OSSL_PARAM_BLD_free(b);
    BN_free(bn);
    BN_free(be);
    return fault ? fault : *out ? NULL : "invalid RSA key";
}

static const char *make_ec(const json_t *k, EVP_PKEY **out)
{
    uint8_t point[1 + COORDINATE + BASE64_ROOM(COORDINATE * 4 / 3 + 1)] = { 4 };
    uint8_t buf[BASE64_ROOM(COORDINATE * 4 / 3 + 1)];
    size_t x, y;
    OSSL_PARAM_BLD *b;

    if (!is(k, "crv", "P-256"))
        return "its curve is not P-256";
    if (!bytes_of(k, "x", buf, COORDINATE, &x) ||
        !bytes_of(k, "y", point + 1 + COORDINATE, COORDINATE, &y) || x != COORDINATE ||
        y != COORDINATE)
        return "x or y is not 32 bytes of base64url";
    memcpy(point + 1, buf, COORDINATE);
    b = must(OSSL_PARAM_BLD_new());
    must_be(OSSL_PARAM_BLD_push_utf8_string(b, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0));
    must_be(OSSL_PARAM_BLD_push_octet_string(b, OSSL_PKEY_PARAM_PUB_KEY, point,
                                             1 + 2 * COORDINATE));
    *out = make("EC", b);
    OSSL_PARAM_BLD_free(b);
    return *out ? NULL : "not a point of P-256";
}

/* Returns NULL, or the reason to ignore the key. The kind of key decides which algorithm it
 * verifies. */
static const char *make_key(const json_t *k, struct jwk *out)
{
    const json_t *kid = json_object_get(k, "kid");
    bool rsa = is(k, "kty", "RSA");
    const char *fault;

    if (!rsa && !is(k, "kty", "EC"))
        return "neither RSA nor EC";
    if (!is_or_none(k, "use", "sig") || !may_verify(k))
        return "not for signatures";
    if (!is_or_none(k, "alg", rsa ? "RS256" : "ES256"))
        return "neither RS256 nor ES256";
    if (json_object_get(k, "d"))
        return "a private key: only its public part belongs here";
    fault = rsa ? make_rsa(k, &out->key) : make_ec(k, &out->key);
    if (fault)
        return fault;
    out->rsa = rsa;
    out->kid = kid && json_is_string(kid) ? strdup(json_string_value(kid)) : NULL;
    return NULL;
}

static struct jwk_set *make_set(const json_t *keys, char why[JWK_WHY])
{
    struct jwk_set *s = must(calloc(1, sizeof(*s)));

    for (size_t i = 0; i < json_array_size(keys); i++) {
        const char *fault = s->n < JWK_KEYS ? make_key(json_array_get(keys, i), &s->v[s->n])
                                            : "too many keys";

        if (!fault)
            s->n++;
        else if (s->left_out++ == 0)
            (void)snprintf(why, JWK_WHY, "key %zu: %s", i + 1, fault);
    }
    return s;
}

struct jwk_set *jwk_set_parse(const char *text, size_t size, char why[JWK_WHY])
{
    json_t *whole = NULL, *keys;
    struct jwk_set *s = NULL;

    why[0] = '\0';
    if (size <= JWK_FILE && jpick_is_flat(text, size, DEPTH, VALUES))
        whole = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    keys = json_object_get(whole, "keys");
    if (json_is_array(keys))
        s = make_set(keys, why);
    else
        (void)snprintf(why, JWK_WHY, "not a JWKS: {\"keys\":[...]} in JSON");
    json_decref(whole);
    if (s && s->n == 0) {
        if (!why[0])
            (void)snprintf(why, JWK_WHY, "it contains no key");
        jwk_set_free(s);
        return NULL;
    }
    return s;
}

void jwk_set_free(struct jwk_set *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++) {
        EVP_PKEY_free(s->v[i].key);
        free(s->v[i].kid);
    }
    free(s);
}
