/* SPDX-License-Identifier: MIT */
/* jwt.c - verifies the parts, the signature and the claims of a JSON Web Token. */
#include "proto/token/jwt.h"

#include "base/base64.h"
#include "base/jpick.h"
#include "base/must.h"
#include "base/text.h"

#include <jansson.h>
#include <math.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <stdlib.h>
#include <string.h>

/* ---- claims: time, issuer, audience, streams */

enum { CLAIMS_DEPTH = 8, CLAIMS_VALUES = 512 };

/* RFC 7519 2: a NumericDate may have a fraction and any value. */
static long long seconds(double d)
{
    return d > 1e15 ? (long long)1e15 : d < -1e15 ? (long long)-1e15 : (long long)d;
}

static err_t check_time(const json_t *claims, const struct token_query *query)
{
    const json_t *exp = json_object_get(claims, "exp"), *nbf = json_object_get(claims, "nbf");
    double late, early;

    if (!json_is_number(exp))
        return err_new(ERR_TOKEN, "the JWT has no exp, which is required");
    if (nbf && !json_is_number(nbf))
        return err_new(ERR_TOKEN, "nbf of the JWT is not a number");
    late = (double)query->now - json_number_value(exp);
    early = nbf ? json_number_value(nbf) - (double)query->now : 0;
    if (late >= JWT_LEEWAY)
        return err_new(ERR_TOKEN, "the JWT expired %lld s ago", seconds(late));
    if (early > JWT_LEEWAY)
        return err_new(ERR_TOKEN, "the JWT becomes valid in %lld s", seconds(early));
    if (query->ends)
        *query->ends = query->now + JWT_LEEWAY - seconds(floor(late));
    return NULL;
}

typedef bool text_match(const char *value, const char *wanted);

static bool same(const char *value, const char *wanted)
{
    return strcmp(value, wanted) == 0;
}

/* Matches a string, or one string of a list. */
static bool has(const json_t *v, const char *wanted, text_match *is)
{
    if (json_is_string(v))
        return is(json_string_value(v), wanted);
    for (size_t i = 0; i < json_array_size(v); i++) {
        const char *value = json_string_value(json_array_get(v, i));

        if (value && is(value, wanted))
            return true;
    }
    return false;
}

static err_t check_scope(const json_t *claims, const struct jwt_rules *rules,
                         const struct token_query *query)
{
    const json_t *iss = json_object_get(claims, "iss"), *aud = json_object_get(claims, "aud");
    const json_t *vhost = json_object_get(claims, "vhost"), *ip = json_object_get(claims, "ip");

    if (*rules->issuer && !(json_is_string(iss) && has(iss, rules->issuer, same)))
        return err_new(ERR_TOKEN, "the JWT is from another issuer");
    if (*rules->audience && !has(aud, rules->audience, same))
        return err_new(ERR_TOKEN, "the JWT is for another audience");
    if (vhost && !has(vhost, query->vhost, same))
        return err_new(ERR_TOKEN, "the JWT is for another vhost");
    if (ip && !has(ip, query->ip, token_same_ip))
        return err_new(ERR_TOKEN, "the JWT is for another address");
    return NULL;
}

static err_t check_stream(const json_t *claims, const struct token_query *query)
{
    const char *claim = query->publish ? "publish" : "play";
    char *stream = must_print("%s/%s", query->app, query->name);
    bool may;

    may = has(json_object_get(claims, claim), stream, wildcard_matches);
    free(stream);
    return may ? NULL : err_new(ERR_TOKEN, "the JWT does not permit to %s this stream", claim);
}

/* Checks the claims, after the signature was verified. */
static err_t check_json(const char *text, size_t size, const struct jwt_rules *rules,
                        const struct token_query *query)
{
    json_t *claims = NULL;
    err_t err;

    if (jpick_is_flat(text, size, CLAIMS_DEPTH, CLAIMS_VALUES))
        claims = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    if (json_is_object(claims))
        err = check_time(claims, query);
    else
        err = err_new(ERR_TOKEN, "the claims of the JWT are not a JSON object");
    if (!err)
        err = check_scope(claims, rules, query);
    if (!err)
        err = check_stream(claims, query);
    json_decref(claims);
    return err;
}

/* ---- the parts and the signature */

enum { DEPTH = 4, VALUES = 64, HEAD_MAX = 1024, MAC = 32, HALF = 32, DER = 80, TRIES = 4 };

/* "head.claims.signature" */
struct parts {
    const char *head, *claims, *sign;
    size_t head_size, claims_size, sign_size;
    size_t size; /* size of the signed text, which starts with the head */
};

struct head {
    json_t *json;
    const char *alg, *kid; /* strings in `json`; kid may be NULL */
};

static bool split(const char *token, size_t size, struct parts *out)
{
    const char *end = token + size, *a = memchr(token, '.', size);
    const char *b = a ? memchr(a + 1, '.', (size_t)(end - a - 1)) : NULL;

    if (!b || memchr(b + 1, '.', (size_t)(end - b - 1)))
        return false;
    *out = (struct parts){
        .head = token, .head_size = (size_t)(a - token),
        .claims = a + 1, .claims_size = (size_t)(b - a - 1),
        .sign = b + 1, .sign_size = (size_t)(end - b - 1), .size = (size_t)(b - token),
    };
    return out->head_size <= HEAD_MAX;
}

/* Parses the head, which is not verified yet. RFC 7515 4.1.11: critical extensions must be
 * understood, and none is supported. */
static err_t read_head(const struct parts *p, struct head *out)
{
    uint8_t text[BASE64_ROOM(HEAD_MAX)];
    size_t size;

    if (!base64url_decode(p->head, p->head_size, text, &size) ||
        !jpick_is_flat((const char *)text, size, DEPTH, VALUES))
        return err_new(ERR_TOKEN, "the head of the JWT is not JSON in base64url");
    out->json = json_loadb((const char *)text, size, JSON_REJECT_DUPLICATES, NULL);
    out->alg = json_string_value(json_object_get(out->json, "alg"));
    out->kid = json_string_value(json_object_get(out->json, "kid"));
    if (out->alg && !json_object_get(out->json, "crit"))
        return NULL;
    json_decref(out->json);
    return err_new(ERR_TOKEN, "the head of the JWT has no alg, or critical extensions (crit)");
}

static bool mac_is_right(const struct parts *p, const uint8_t *sign, size_t size,
                         const struct jwt_rules *rules)
{
    bool found = false;

    for (size_t i = 0; i < rules->n_secrets; i++) {
        const char *secret = rules->secrets[i];
        uint8_t mac[MAC];

        must(HMAC(EVP_sha256(), secret, (int)strlen(secret), (const uint8_t *)p->head, p->size,
                  mac, NULL));
        found |= size == MAC && CRYPTO_memcmp(mac, sign, MAC) == 0;
    }
    return found;
}

/* RFC 7518 3.4: two numbers side by side, which the library expects in DER. */
static size_t to_der(const uint8_t *sign, size_t size, uint8_t der[DER])
{
    ECDSA_SIG *pair = must(ECDSA_SIG_new());
    uint8_t *at = der;
    BIGNUM *r, *s;
    int n = -1;

    if (size == 2 * HALF) {
        r = must(BN_bin2bn(sign, HALF, NULL));
        s = must(BN_bin2bn(sign + HALF, HALF, NULL));
        must_be(ECDSA_SIG_set0(pair, r, s) == 1);
        n = i2d_ECDSA_SIG(pair, NULL) <= DER ? i2d_ECDSA_SIG(pair, &at) : -1;
    }
    ECDSA_SIG_free(pair);
    return n > 0 ? (size_t)n : 0;
}

static bool key_verifies(const struct jwk *k, const struct parts *p, const uint8_t *sign,
                         size_t size)
{
    EVP_MD_CTX *ctx = must(EVP_MD_CTX_new());
    uint8_t der[DER];
    bool yes = false;

    if (!k->rsa) {
        size = to_der(sign, size, der);
        sign = der;
    }
    if (size > 0 && EVP_DigestVerifyInit(ctx, NULL, EVP_sha256(), NULL, k->key) == 1)
        yes = EVP_DigestVerify(ctx, sign, size, (const uint8_t *)p->head, p->size) == 1;
    EVP_MD_CTX_free(ctx);
    ERR_clear_error();
    return yes;
}

static err_t check_by_keys(const struct parts *p, const struct head *h, const uint8_t *sign,
                           size_t size, const struct jwk_set *keys)
{
    bool rsa = strcmp(h->alg, "RS256") == 0;
    int tries = 0;

    for (size_t i = 0; i < keys->n && tries < TRIES; i++) {
        const struct jwk *k = &keys->v[i];

        if (k->rsa != rsa || (h->kid && (!k->kid || strcmp(h->kid, k->kid) != 0)))
            continue;
        if (key_verifies(k, p, sign, size))
            return NULL;
        tries++;
    }
    return err_new(ERR_TOKEN, tries ? "wrong signature of the JWT"
                                    : "no key of the JWKS is for this JWT (kid, alg)");
}

static err_t check_sign(const struct parts *p, const struct head *h,
                        const struct jwt_rules *rules)
{
    uint8_t sign[BASE64_ROOM(JWK_RSA_MAX / 8 * 4 / 3 + 4)];
    size_t size;

    if (p->sign_size > JWK_RSA_MAX / 8 * 4 / 3 + 1 ||
        !base64url_decode(p->sign, p->sign_size, sign, &size))
        return err_new(ERR_TOKEN, "the signature of the JWT is not base64url, or too long");
    if (strcmp(h->alg, "HS256") == 0 && rules->n_secrets)
        return mac_is_right(p, sign, size, rules)
                   ? NULL : err_new(ERR_TOKEN, "wrong signature of the JWT");
    if ((strcmp(h->alg, "RS256") == 0 || strcmp(h->alg, "ES256") == 0) && rules->keys)
        return check_by_keys(p, h, sign, size, rules->keys);
    return err_new(ERR_TOKEN, "no key for a JWT with alg %.16s", h->alg);
}

static err_t check_claims(const struct parts *p, const struct jwt_rules *rules,
                          const struct token_query *query)
{
    uint8_t *text = must(malloc(BASE64_ROOM(p->claims_size)));
    size_t size;
    err_t err;

    if (base64url_decode(p->claims, p->claims_size, text, &size))
        err = check_json((const char *)text, size, rules, query);
    else
        err = err_new(ERR_TOKEN, "the claims of the JWT are not base64url");
    free(text);
    return err;
}

err_t jwt_check(const char *token, size_t size, const struct jwt_rules *rules,
                const struct token_query *query)
{
    struct parts p;
    struct head h = { 0 };
    err_t err;

    if (size > TOKEN_MAX)
        return err_new(ERR_TOKEN, "JWT of %zu bytes, limit %d", size, TOKEN_MAX);
    if (!split(token, size, &p))
        return err_new(ERR_TOKEN, "not a JWT: it needs three parts separated by dots");
    err = read_head(&p, &h);
    if (err)
        return err;
    err = check_sign(&p, &h, rules);
    json_decref(h.json);
    return err ? err : check_claims(&p, rules, query);
}
