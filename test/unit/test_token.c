/* SPDX-License-Identifier: MIT */
/* test_token.c - signed links, JSON Web Tokens and the keys that they are checked by. */
#include "base/base64.h"
#include "proto/token/jwt.h"
#include "proto/token/link.h"
#include "unit.h"

#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NOW 1000000
#define SECRET "0123456789abcdef0123456789abcdef"

static const char *const secrets[] = { "another-secret-of-32-characters..", SECRET };

static struct token_query ask(bool publish)
{
    return (struct token_query){ .publish = publish, .vhost = "v", .app = "live", .name = "cam1",
                               .ip = "10.0.0.7", .now = NOW };
}

/* The call is rejected with these words. */
static void assert_says(err_t err, const char *words, const char *what)
{
    enum err_code code;
    char text[512];

    if (!*words && !err)
        return;
    (void)err_text(err, text, sizeof(text));
    code = err_code(err);
    err_free(&err);
    if (code != ERR_TOKEN || !*words || !strstr(text, words))
        fail_msg("%s: wanted \"%s\", got %s", what, words, code ? text : "a yes");
}

/* ---- base64url */

static void base64url_is_strict(void **state)
{
    static const struct {
        const char *text, *bytes;
    } rows[] = {
        { "", "" }, { "Zg", "f" }, { "Zm8", "fo" }, { "Zm9v", "foo" }, { "Zm9vYg", "foob" },
        { "-_-_", "\xfb\xff\xbf" },
        { "Z", NULL }, { "Zg==", NULL }, { "Zh", NULL }, { "Zm9", NULL }, { "Zm9v\n", NULL },
        { "Zm+v", NULL }, { "Zm/v", NULL }, { "Zm 9v", NULL }, { "Zm9vY", NULL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t out[BASE64_ROOM(16)];
        size_t size;
        bool good = base64url_decode(rows[i].text, strlen(rows[i].text), out, &size);

        if (good != (rows[i].bytes != NULL))
            fail_msg("%s", rows[i].text);
        if (good) {
            assert_int_equal(size, strlen(rows[i].bytes));
            assert_memory_equal(out, rows[i].bytes, size);
        }
    }
}

static char *to_base64url(const void *data, size_t size)
{
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const uint8_t *p = data;
    char *out = calloc(1, size * 4 / 3 + 4), *at = out;

    for (size_t i = 0; i < size * 8; i += 6) {
        unsigned byte = p[i / 8], next = i / 8 + 1 < size ? p[i / 8 + 1] : 0;

        *at++ = set[(byte << 8 | next) >> (10 - i % 8) & 63];
    }
    return out;
}

/* ---- links */

static void links(void **state)
{
    char sign[TOKEN_SIGN_HEX + 1], other[TOKEN_SIGN_HEX + 1];
    struct token_link link = { .expires = "1000060", .sign = sign };
    struct token_query play = ask(false), publish = ask(true), wrong;

    (void)state;
    token_link_sign(&link, &play, SECRET, sign);
    assert_says(token_link_check(&link, &play, secrets, 2), "", "as signed");
    assert_says(token_link_check(&link, &publish, secrets, 2), "is to play", "to publish");
    assert_says(token_link_check(&link, &play, secrets, 1), "wrong signature", "other secret");
    assert_says(token_link_check(&link, &play, secrets, 0), "wrong signature", "no secret");
    wrong = play;
    wrong.vhost = "w";
    assert_says(token_link_check(&link, &wrong, secrets, 2), "wrong signature", "vhost");
    wrong = play;
    wrong.app = "live\ncam1";
    wrong.name = "x";
    assert_says(token_link_check(&link, &wrong, secrets, 2), "wrong signature", "stream");
    play.now = NOW + 59;
    assert_says(token_link_check(&link, &play, secrets, 2), "", "the last second");
    play.now = NOW + 72;
    assert_says(token_link_check(&link, &play, secrets, 2), "expired 12 s ago", "expired");
    play.now = NOW;
    link.expires = "1000061";
    assert_says(token_link_check(&link, &play, secrets, 2), "wrong signature", "longer");
    link = (struct token_link){ .expires = "1000060", .sign = sign, .ip = "10.0.0.7" };
    assert_says(token_link_check(&link, &play, secrets, 2), "wrong signature", "ip put in");
    token_link_sign(&link, &play, SECRET, other);
    link.sign = other;
    assert_says(token_link_check(&link, &play, secrets, 2), "", "ip");
    play.ip = "::ffff:10.0.0.7";
    assert_says(token_link_check(&link, &play, secrets, 2), "", "the same ip");
    play.ip = "10.0.0.8";
    assert_says(token_link_check(&link, &play, secrets, 2), "another address", "other ip");
    link.ip = NULL;
    assert_says(token_link_check(&link, &play, secrets, 2), "wrong signature", "ip left out");
}

/* printf 'play\nv\nlive\ncam1\n1000060\n' | openssl dgst -sha256 -hmac SECRET */
static void links_of_others(void **state)
{
    const struct token_query play = ask(false);
    struct token_link link = {
        .expires = "1000060",
        .sign = "a0ce3b8da91324124781bb3e63accc8f6705e81eac4dbafde6f980978da97c96",
    };
    uint8_t mac[32];
    char *text;

    (void)state;
    assert_says(token_link_check(&link, &play, secrets, 2), "", "hex");
    link.sign = "A0CE3B8DA91324124781BB3E63ACCC8F6705E81EAC4DBAFDE6F980978DA97C96";
    assert_says(token_link_check(&link, &play, secrets, 2), "", "hex in capitals");
    (void)HMAC(EVP_sha256(), SECRET, 32, (const uint8_t *)"play\nv\nlive\ncam1\n1000060\n", 25,
               mac, NULL);
    text = to_base64url(mac, sizeof(mac));
    link.sign = text;
    assert_says(token_link_check(&link, &play, secrets, 2), "", "base64url");
    free(text);
}

static void broken_links(void **state)
{
    static const struct {
        const char *expires, *sign, *says;
    } rows[] = {
        { "", "", "not a time" }, { "-1", "", "not a time" }, { "1e9", "", "not a time" },
        { " 1000060", "", "not a time" }, { "1000060 ", "", "not a time" },
        { "0x7fffffff", "", "not a time" }, { "9999999999999", "", "not a time" },
        { "1000060", "", "not a signature" }, { "1000060", "zz", "not a signature" },
        { "1000060", "g45cd1bb7a1c8bd0a1fe9d7b53d7cb90ee70cb93f23ea6cfcd0c3cbef0b1dcd0",
          "not a signature" },
        { "1000060", "0000000000000000000000000000000000000000000000000000000000000000",
          "wrong signature" },
        { "1000060", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "wrong signature" },
        { "1000060", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAB", "not a signature" },
    };
    const struct token_query play = ask(false);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct token_link link = { .expires = rows[i].expires, .sign = rows[i].sign };

        assert_says(token_link_check(&link, &play, secrets, 2), rows[i].says, rows[i].sign);
    }
}

/* Every character matters. */
static void changed_links(void **state)
{
    const struct token_query play = ask(false);
    char sign[TOKEN_SIGN_HEX + 1];
    const struct token_link link = { .expires = "1000060", .sign = sign };

    (void)state;
    token_link_sign(&link, &play, SECRET, sign);
    for (size_t i = 0; i < TOKEN_SIGN_HEX; i++) {
        char was = sign[i];

        sign[i] = was == '0' ? '1' : '0';
        assert_err(token_link_check(&link, &play, secrets, 2), ERR_TOKEN);
        sign[i] = '\0';
        assert_err(token_link_check(&link, &play, secrets, 2), ERR_TOKEN);
        sign[i] = was;
    }
    assert_ok(token_link_check(&link, &play, secrets, 2));
}

/* ---- JWT of RFC 7515, appendix A: they name no stream, and expired in 2011 */

#define RFC_CLAIMS "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFt" \
                   "cGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
#define RFC_N "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2m" \
              "JPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7" \
              "OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVM" \
              "TBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethF" \
              "kMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"
#define RFC_X "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU"
#define RFC_Y "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"

static const char rfc_jwks[] =
    "{\"keys\":[{\"kty\":\"RSA\",\"n\":\"" RFC_N "\",\"e\":\"AQAB\"},"
    "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" RFC_X "\",\"y\":\"" RFC_Y "\"}]}";

static const char *const rfc_tokens[] = {
    "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9." RFC_CLAIMS
    ".dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
    "eyJhbGciOiJSUzI1NiJ9." RFC_CLAIMS
    ".cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2"
    "Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQ"
    "BMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6Ie"
    "YI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
    "eyJhbGciOiJFUzI1NiJ9." RFC_CLAIMS
    ".DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
};

static struct jwk_set *keys_of(const char *text)
{
    char why[JWK_WHY];
    struct jwk_set *s = jwk_set_parse(text, strlen(text), why);

    if (!s)
        fail_msg("%s: %s", text, why);
    return s;
}

static struct jwt_rules rules_of(const struct jwk_set *keys)
{
    return (struct jwt_rules){ .secrets = secrets, .n_secrets = 2, .keys = keys, .issuer = "",
                               .audience = "" };
}

/* Valid and invalid signatures are distinguished by the next complaint. */
static void rfc_vectors(void **state)
{
    static const uint8_t secret[] = {
        3, 35, 53, 75, 43, 15, 165, 188, 131, 126, 6, 101, 119, 123, 166, 143, 90, 179, 40, 230,
        240, 84, 201, 40, 169, 15, 132, 178, 210, 80, 46, 191, 211, 251, 90, 146, 210, 6, 71, 239,
        150, 138, 180, 195, 119, 98, 61, 34, 61, 46, 33, 114, 5, 46, 79, 8, 192, 205, 154, 245,
        103, 208, 128, 163, 0,
    };
    const char *const its[] = { (const char *)secret };
    struct jwk_set *keys = keys_of(rfc_jwks);
    struct jwt_rules rules = rules_of(keys);
    struct token_query play = ask(false);

    (void)state;
    rules.secrets = its;
    rules.n_secrets = 1;
    for (size_t i = 0; i < COUNT(rfc_tokens); i++) {
        const char *t = rfc_tokens[i];
        char *text = strdup(t), *sign = strrchr(text, '.') + 1;

        play.now = 1300819380;
        assert_says(jwt_check(t, strlen(t), &rules, &play), "does not permit to play", t);
        play.now += JWT_LEEWAY;
        assert_says(jwt_check(t, strlen(t), &rules, &play), "expired 30 s ago", t);
        for (char *p = text; *p; p++) { /* every character matters */
            char was = *p;

            if (p > sign && (p - sign) % 16) /* only some, for long signatures */
                continue;
            *p = was == 'A' ? 'B' : 'A';
            assert_err(jwt_check(text, strlen(text), &rules, &play), ERR_TOKEN);
            assert_err(jwt_check(text, (size_t)(p - text), &rules, &play), ERR_TOKEN);
            *p = was;
        }
        free(text);
    }
    jwk_set_free(keys);
}

/* ---- JWT of our own */

static char *join(const char *head, const char *claims)
{
    char *a = to_base64url(head, strlen(head)), *b = to_base64url(claims, strlen(claims));
    char *out;

    assert_true(asprintf(&out, "%s.%s", a, b) > 0);
    free(a);
    free(b);
    return out;
}

static char *finish(char *input, const uint8_t *sign, size_t size)
{
    char *s = to_base64url(sign, size), *out;

    assert_true(asprintf(&out, "%s.%s", input, s) > 0);
    free(s);
    free(input);
    return out;
}

static char *hs256(const char *head, const char *claims, const char *secret)
{
    char *input = join(head, claims);
    uint8_t mac[32];

    (void)HMAC(EVP_sha256(), secret, (int)strlen(secret), (const uint8_t *)input, strlen(input),
               mac, NULL);
    return finish(input, mac, sizeof(mac));
}

static char *es256(const char *head, const char *claims, EVP_PKEY *key)
{
    char *input = join(head, claims);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    uint8_t der[80], raw[64];
    const uint8_t *at = der;
    size_t size = sizeof(der);
    ECDSA_SIG *pair;

    assert_int_equal(EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key), 1);
    assert_int_equal(EVP_DigestSign(ctx, der, &size, (uint8_t *)input, strlen(input)), 1);
    pair = d2i_ECDSA_SIG(NULL, &at, (long)size);
    (void)BN_bn2binpad(ECDSA_SIG_get0_r(pair), raw, 32);
    (void)BN_bn2binpad(ECDSA_SIG_get0_s(pair), raw + 32, 32);
    ECDSA_SIG_free(pair);
    EVP_MD_CTX_free(ctx);
    return finish(input, raw, sizeof(raw));
}

#define HS "{\"alg\":\"HS256\"}"
#define SOON "\"exp\":1000060"

static void claims(void **state)
{
    static const struct {
        const char *claims;
        const char *publish, *play; /* "" is accepted */
    } rows[] = {
        { "{" SOON ",\"play\":\"live/cam1\"}", "does not permit to publish", "" },
        { "{" SOON ",\"publish\":\"live/cam1\"}", "", "does not permit to play" },
        { "{" SOON ",\"publish\":[\"x\",\"live/cam1\"],\"play\":[\"live/*\"]}", "", "" },
        { "{" SOON ",\"publish\":[\"live/cam\",\"live/cam11\"],\"play\":[\"*\"]}", "permit", "" },
        { "{" SOON ",\"publish\":\"live/cam*\",\"play\":\"livex/*\"}", "", "permit" },
        { "{" SOON ",\"publish\":true,\"play\":{\"live/cam1\":1}}", "permit", "permit" },
        { "{" SOON ",\"publish\":[[\"live/cam1\"]],\"play\":[]}", "permit", "permit" },
        { "{" SOON ",\"play\":\"live/cam1\",\"vhost\":\"v\"}", "permit", "" },
        { "{" SOON ",\"play\":\"live/cam1\",\"vhost\":\"w\"}", "another vhost", "another vhost" },
        { "{" SOON ",\"play\":\"live/cam1\",\"vhost\":7}", "another vhost", "another vhost" },
        { "{" SOON ",\"play\":\"live/cam1\",\"ip\":\"10.0.0.7\"}", "permit", "" },
        { "{" SOON ",\"play\":\"live/cam1\",\"ip\":\"10.0.0.8\"}", "address", "address" },
        { "{\"play\":\"*\"}", "no exp", "no exp" },
        { "{\"exp\":\"1000060\",\"play\":\"*\"}", "no exp", "no exp" },
        { "{\"exp\":null,\"play\":\"*\"}", "no exp", "no exp" },
        { "{\"exp\":1e300,\"play\":\"*\"}", "permit", "" },
        { "{\"exp\":-1e300,\"play\":\"*\"}", "expired", "expired" },
        { "{\"exp\":999970.5,\"play\":\"*\"}", "permit", "" },
        { "{\"exp\":999970,\"play\":\"*\"}", "expired 30 s ago", "expired 30 s ago" },
        { "{" SOON ",\"nbf\":1000030,\"play\":\"*\"}", "permit", "" },
        { "{" SOON ",\"nbf\":1000031,\"play\":\"*\"}", "becomes valid in 31 s", "becomes valid in 31 s" },
        { "{" SOON ",\"nbf\":\"0\",\"play\":\"*\"}", "nbf", "nbf" },
        { "{" SOON ",\"exp\":2000000,\"play\":\"*\"}", "not a JSON", "not a JSON" }, /* twice */
        { "[" SOON "]", "not a JSON", "not a JSON" }, { "", "not a JSON", "not a JSON" },
        { "null", "not a JSON", "not a JSON" }, { "{" SOON, "not a JSON", "not a JSON" },
        { "{" SOON ",\"x\":[[[[[[[[1]]]]]]]]}", "not a JSON", "not a JSON" },
        { "{" SOON ",\"play\":\"live/cam1\\u0000\"}", "not a JSON", "not a JSON" },
    };
    const struct jwt_rules rules = rules_of(NULL);
    const struct token_query publish = ask(true), play = ask(false);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *t = hs256(HS, rows[i].claims, SECRET);

        assert_says(jwt_check(t, strlen(t), &rules, &publish), rows[i].publish, rows[i].claims);
        assert_says(jwt_check(t, strlen(t), &rules, &play), rows[i].play, rows[i].claims);
        free(t);
    }
}

static void from_whom_for_whom(void **state)
{
    static const struct {
        const char *claims, *says;
    } rows[] = {
        { "{" SOON ",\"play\":\"*\",\"iss\":\"me\",\"aud\":\"us\"}", "" },
        { "{" SOON ",\"play\":\"*\",\"iss\":\"me\",\"aud\":[\"x\",\"us\"]}", "" },
        { "{" SOON ",\"play\":\"*\",\"iss\":\"me\",\"aud\":[\"x\"]}", "audience" },
        { "{" SOON ",\"play\":\"*\",\"iss\":\"me\"}", "audience" },
        { "{" SOON ",\"play\":\"*\",\"iss\":[\"me\"],\"aud\":\"us\"}", "issuer" },
        { "{" SOON ",\"play\":\"*\",\"aud\":\"us\"}", "issuer" },
    };
    struct jwt_rules rules = rules_of(NULL);
    const struct token_query play = ask(false);

    (void)state;
    rules.issuer = "me";
    rules.audience = "us";
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *t = hs256(HS, rows[i].claims, SECRET);

        assert_says(jwt_check(t, strlen(t), &rules, &play), rows[i].says, rows[i].claims);
        free(t);
    }
}

/* A link ends at its time, a JWT only after a tolerance for clocks that differ. */
static void when_they_end(void **state)
{
    static const struct {
        const char *exp;
        int64_t ends;
    } rows[] = {
        { "1000060", 1000090 }, { "999971", 1000001 }, { "999970.5", 1000001 },
        { "1000060.0", 1000090 }, { "1000060.1", 1000091 }, { "1e300", 1000000001000030 },
    };
    struct jwt_rules rules = rules_of(NULL);
    struct token_query play = ask(false);
    struct token_link link = { .expires = "1000060" };
    char sign[TOKEN_SIGN_HEX + 1], claims[64];
    int64_t ends = 0;

    (void)state;
    play.ends = &ends;
    token_link_sign(&link, &play, SECRET, sign);
    link.sign = sign;
    assert_ok(token_link_check(&link, &play, secrets, 2));
    assert_int_equal(ends, 1000060);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *t;

        (void)snprintf(claims, sizeof(claims), "{\"exp\":%s,\"play\":\"*\"}", rows[i].exp);
        t = hs256(HS, claims, SECRET);
        assert_ok(jwt_check(t, strlen(t), &rules, &play));
        assert_int_equal(ends, rows[i].ends);
        free(t);
    }
}

/* Allowed headers: none changes the purpose of a key. */
static void heads(void **state)
{
    static const struct {
        const char *head, *says;
    } rows[] = {
        { "{\"alg\":\"HS256\",\"typ\":\"JWT\",\"kid\":\"any\"}", "" },
        { "{\"alg\":\"none\"}", "no key for a JWT with alg none" },
        { "{\"alg\":\"None\"}", "no key" }, { "{\"alg\":\"\"}", "no key" },
        { "{\"alg\":\"HS512\"}", "no key" }, { "{\"alg\":\"hs256\"}", "no key" },
        { "{\"alg\":\"RS256\"}", "wrong signature" }, { "{\"alg\":\"ES256\"}", "wrong signature" },
        { "{\"alg\":[\"HS256\"]}", "no alg" }, { "{}", "no alg" }, { "[]", "no alg" },
        { "{\"alg\":\"HS256\",\"alg\":\"none\"}", "no alg" },
        { "{\"alg\":\"HS256\",\"crit\":[\"exp\"]}", "crit" },
        { "{\"alg\":\"HS256\",\"x\":[[[[[1]]]]]}", "not JSON" },
    };
    struct jwk_set *keys = keys_of(rfc_jwks);
    const struct jwt_rules both = rules_of(keys), none = { .issuer = "", .audience = "" };
    const struct token_query play = ask(false);

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *t = hs256(rows[i].head, "{" SOON ",\"play\":\"*\"}", SECRET);
        size_t size = strlen(t);

        assert_says(jwt_check(t, size, &both, &play), rows[i].says, rows[i].head);
        assert_err(jwt_check(t, size, &none, &play), ERR_TOKEN);
        *(strrchr(t, '.') + 1) = '\0'; /* without its signature */
        assert_err(jwt_check(t, strlen(t), &both, &play), ERR_TOKEN);
        *strrchr(t, '.') = '\0';
        assert_says(jwt_check(t, strlen(t), &both, &play), "three parts", t);
        free(t);
    }
    jwk_set_free(keys);
}

/* The public key of RS256, which is known to all, used as the secret of HS256. */
static void confused_algorithm(void **state)
{
    struct jwk_set *keys = keys_of(rfc_jwks);
    const struct jwt_rules rules = { .keys = keys, .issuer = "", .audience = "" };
    const struct token_query play = ask(false);
    char *t = hs256(HS, "{" SOON ",\"play\":\"*\"}", RFC_N);

    (void)state;
    assert_says(jwt_check(t, strlen(t), &rules, &play), "no key for a JWT with alg HS256", "HS by N");
    free(t);
    jwk_set_free(keys);
}

static void too_long(void **state)
{
    const struct jwt_rules rules = rules_of(NULL);
    const struct token_query play = ask(false);
    char *pad = calloc(1, 4000), *text, *t;

    (void)state;
    memset(pad, 'x', 2900);
    assert_true(asprintf(&text, "{" SOON ",\"play\":\"*\",\"x\":\"%s\"}", pad) > 0);
    t = hs256(HS, text, SECRET);
    assert_true(strlen(t) <= TOKEN_MAX);
    assert_says(jwt_check(t, strlen(t), &rules, &play), "", "long");
    free(text);
    free(t);
    memset(pad, 'x', 3100);
    assert_true(asprintf(&text, "{" SOON ",\"play\":\"*\",\"x\":\"%s\"}", pad) > 0);
    t = hs256(HS, text, SECRET);
    assert_says(jwt_check(t, strlen(t), &rules, &play), "limit 4096", "too long");
    free(text);
    free(t);
    free(pad);
}

/* ---- keys */

static EVP_PKEY *new_key(char **jwk, const char *kid)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    BIGNUM *x = NULL, *y = NULL;
    uint8_t bx[32], by[32];
    char *tx, *ty;

    assert_non_null(key);
    assert_int_equal(EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_EC_PUB_X, &x), 1);
    assert_int_equal(EVP_PKEY_get_bn_param(key, OSSL_PKEY_PARAM_EC_PUB_Y, &y), 1);
    (void)BN_bn2binpad(x, bx, 32);
    (void)BN_bn2binpad(y, by, 32);
    tx = to_base64url(bx, 32);
    ty = to_base64url(by, 32);
    assert_true(asprintf(jwk, "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"%s\",\"y\":\"%s\"%s%s%s}",
                         tx, ty, kid ? ",\"kid\":\"" : "", kid ? kid : "", kid ? "\"" : "") > 0);
    free(tx);
    free(ty);
    BN_free(x);
    BN_free(y);
    return key;
}

static void key_ids(void **state)
{
    static const struct {
        const char *head;
        const char *a, *b, *c; /* signed by the first, the second, one that does not exist */
    } rows[] = {
        { "{\"alg\":\"ES256\",\"kid\":\"a\"}", "", "wrong signature", "wrong signature" },
        { "{\"alg\":\"ES256\",\"kid\":\"b\"}", "wrong signature", "", "wrong signature" },
        { "{\"alg\":\"ES256\",\"kid\":\"c\"}", "no key", "no key", "no key" },
        { "{\"alg\":\"ES256\"}", "", "", "wrong signature" },
        { "{\"alg\":\"RS256\",\"kid\":\"a\"}", "no key", "no key", "no key" },
    };
    char *ja, *jb, *jc, *text;
    EVP_PKEY *a = new_key(&ja, "a"), *b = new_key(&jb, "b"), *c = new_key(&jc, NULL);
    const struct token_query play = ask(false);
    struct jwk_set *keys;
    struct jwt_rules rules;

    (void)state;
    assert_true(asprintf(&text, "{\"keys\":[%s,%s]}", ja, jb) > 0);
    keys = keys_of(text);
    rules = rules_of(keys);
    for (size_t i = 0; i < COUNT(rows); i++) {
        EVP_PKEY *const by[] = { a, b, c };
        const char *const says[] = { rows[i].a, rows[i].b, rows[i].c };

        for (int k = 0; k < 3; k++) {
            char *t = es256(rows[i].head, "{" SOON ",\"play\":\"live/*\"}", by[k]);

            assert_says(jwt_check(t, strlen(t), &rules, &play), says[k], rows[i].head);
            free(t);
        }
    }
    jwk_set_free(keys);
    free(text);
    free(ja);
    free(jb);
    free(jc);
    EVP_PKEY_free(a);
    EVP_PKEY_free(b);
    EVP_PKEY_free(c);
}

#define EC "\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" RFC_X "\",\"y\":\"" RFC_Y "\""
#define RSA_ "\"kty\":\"RSA\",\"n\":\"" RFC_N "\",\"e\":\"AQAB\""

/* One key of a file: why it is left out, or "". */
static const struct {
    const char *key, *why;
} key_rows[] = {
    { "{" EC "}", "" }, { "{" RSA_ "}", "" },
    { "{" EC ",\"use\":\"sig\",\"alg\":\"ES256\",\"key_ops\":[\"verify\"],\"kid\":\"1\"}", "" },
    { "{" RSA_ ",\"alg\":\"RS256\",\"x5c\":[\"...\"]}", "" },
    { "{" RSA_ ",\"use\":\"enc\"}", "not for signatures" },
    { "{" RSA_ ",\"key_ops\":[\"encrypt\"]}", "not for signatures" },
    { "{" RSA_ ",\"alg\":\"PS256\"}", "neither RS256" },
    { "{" RSA_ ",\"alg\":\"ES256\"}", "neither RS256" },
    { "{" EC ",\"alg\":\"RS256\"}", "neither RS256" },
    { "{" EC ",\"d\":\"jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI\"}", "a private key" },
    { "{\"kty\":\"oct\",\"k\":\"AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ\"}", "neither RSA" },
    { "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AA\"}", "neither RSA" },
    { "{\"kty\":\"EC\",\"crv\":\"P-384\",\"x\":\"AA\",\"y\":\"AA\"}", "curve" },
    { "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" RFC_X "\"}", "x or y" },
    { "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" RFC_X "AA\",\"y\":\"" RFC_Y "\"}", "x or y" },
    { "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"" RFC_X "\",\"y\":\"" RFC_X "\"}", "not a point" },
    { "{\"kty\":\"RSA\",\"n\":\"AQAB\",\"e\":\"AQAB\"}", "less than 2048" },
    { "{\"kty\":\"RSA\",\"n\":\"" RFC_N RFC_N RFC_N "\",\"e\":\"AQAB\"}", "n or e" },
    { "{\"kty\":\"RSA\",\"n\":\"" RFC_N "\",\"e\":\"" RFC_N "\"}", "invalid RSA key" },
    { "{\"kty\":\"RSA\",\"n\":\"" RFC_N "\",\"e\":\"AQ\"}", "invalid RSA key" },
    { "{\"kty\":\"RSA\",\"n\":\"" RFC_N "\",\"e\":65537}", "n or e" },
    { "{\"kty\":\"RSA\",\"n\":\"not base64\",\"e\":\"AQAB\"}", "n or e" },
    { "{}", "neither RSA" }, { "[]", "neither RSA" }, { "1", "neither RSA" },
};

static void key_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(key_rows); i++) {
        char *text, why[JWK_WHY];
        struct jwk_set *s;

        /* together with a good one, and alone */
        assert_true(asprintf(&text, "{\"keys\":[{" EC "},%s]}", key_rows[i].key) > 0);
        s = jwk_set_parse(text, strlen(text), why);
        assert_non_null(s);
        if (!*key_rows[i].why != !*why || !strstr(why, key_rows[i].why))
            fail_msg("%s: wanted \"%s\", got \"%s\"", text, key_rows[i].why, why);
        assert_int_equal(s->n, *why ? 1 : 2);
        assert_int_equal(s->left_out, *why ? 1 : 0);
        jwk_set_free(s);
        free(text);
        assert_true(asprintf(&text, "{\"keys\":[%s]}", key_rows[i].key) > 0);
        s = jwk_set_parse(text, strlen(text), why);
        assert_int_equal(s != NULL, !*key_rows[i].why);
        jwk_set_free(s);
        free(text);
    }
}

static void key_files(void **state)
{
    static const char *const bad[] = {
        "", "{", "[]", "null", "{\"keys\":1}", "{\"keys\":{}}", "{\"keys\":[]}", "{" EC "}",
        "{\"keys\":[{" EC "}],\"keys\":[]}", "[[[[[[[[[[[[[[[[[[[[",
    };
    char why[JWK_WHY], *large = malloc(JWK_FILE + 1);
    struct jwk_set *s;
    size_t n;

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        assert_null(jwk_set_parse(bad[i], strlen(bad[i]), why));
        assert_true(strlen(why) > 4);
    }
    for (size_t cut = 0; cut < sizeof(rfc_jwks) - 1; cut++)
        assert_null(jwk_set_parse(rfc_jwks, cut, why));
    memset(large, ' ', JWK_FILE + 1);
    memcpy(large, rfc_jwks, sizeof(rfc_jwks) - 1);
    assert_null(jwk_set_parse(large, JWK_FILE + 1, why));
    n = (size_t)snprintf(large, JWK_FILE, "{\"keys\":[{" EC "}");
    for (int i = 0; i < JWK_KEYS + 4; i++)
        n += (size_t)snprintf(large + n, JWK_FILE - n, ",{" EC "}");
    n += (size_t)snprintf(large + n, JWK_FILE - n, "]}");
    s = jwk_set_parse(large, n, why);
    assert_int_equal(s->n, JWK_KEYS);
    assert_int_equal(s->left_out, 5);
    jwk_set_free(s);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(base64url_is_strict), TEST(links), TEST(links_of_others), TEST(broken_links),
        TEST(when_they_end), TEST(changed_links), TEST(rfc_vectors), TEST(claims), TEST(from_whom_for_whom),
        TEST(heads), TEST(confused_algorithm), TEST(too_long), TEST(key_ids), TEST(key_kinds),
        TEST(key_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
