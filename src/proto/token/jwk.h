/* SPDX-License-Identifier: MIT */
/* jwk.h - parses the public keys of a JWKS file: RFC 7517, RFC 7518 section 6. */
#ifndef PROTO_TOKEN_JWK_H
#define PROTO_TOKEN_JWK_H

#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>

enum {
    JWK_KEYS = 32,           /* limit per file */
    JWK_FILE = 256 * 1024,   /* limit of a file, in bytes */
    JWK_RSA_MIN = 2048, JWK_RSA_MAX = 4096, /* bits; verification with larger keys takes too long */
    JWK_WHY = 160,
};

struct jwk {
    char *kid; /* NULL: none */
    bool rsa;  /* RSA, for RS256; otherwise P-256, for ES256 */
    EVP_PKEY *key;
};

struct jwk_set {
    size_t n;
    unsigned left_out; /* keys for other purposes, and unsupported ones */
    struct jwk v[JWK_KEYS];
};

/* Parses a set; may run on any thread and take milliseconds. Returns NULL if it contains no usable
 * key, with the reason in `why`. Otherwise `why` names the first key that was ignored, or is "". */
struct jwk_set *jwk_set_parse(const char *text, size_t size, char why[JWK_WHY]);
void jwk_set_free(struct jwk_set *s); /* NULL is allowed */

#endif
