/* SPDX-License-Identifier: MIT */
/* jwk.h - the public keys of a JWKS file: RFC 7517, RFC 7518 section 6. */
#ifndef PROTO_TOKEN_JWK_H
#define PROTO_TOKEN_JWK_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    JWK_KEYS = 32,           /* of one file */
    JWK_FILE = 256 * 1024,   /* its bytes */
    JWK_RSA_MIN = 2048, JWK_RSA_MAX = 4096, /* bits; a larger one takes too long to check by */
    JWK_WHY = 160,
};

struct jwk {
    char *kid; /* NULL: it has none */
    bool rsa;  /* for RS256; else it is of P-256, for ES256 */
    EVP_PKEY *key;
};

struct jwk_set {
    size_t n;
    unsigned left_out; /* keys for something else, and those that we cannot use */
    struct jwk v[JWK_KEYS];
};

/* Any thread; it may take milliseconds. NULL: there is nothing to check by, `why` says it. Else
 * `why` tells what was left out, "" for nothing. */
struct jwk_set *jwk_set_parse(const char *text, size_t size, char why[JWK_WHY]);
void jwk_set_free(struct jwk_set *s); /* NULL is fine */

#endif
