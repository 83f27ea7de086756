/* SPDX-License-Identifier: MIT */
/* hmac.c - HMAC-SHA256 of short texts, RFC 2104. */
/* SHA256_Update() and the like: what EVP has instead allocates, and looks algorithms up by name. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "proto/rtmfp/hmac.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

enum { BLOCK = 64 };

void rtmfp_sha256(struct rtmfp_bytes text, uint8_t out[RTMFP_HASH])
{
    SHA256_CTX c;

    SHA256_Init(&c);
    SHA256_Update(&c, text.p, text.n);
    SHA256_Final(out, &c);
}

/* The key mixed with that byte, and the text behind it. */
static void half(const uint8_t key[BLOCK], uint8_t mix, struct rtmfp_bytes text,
                 uint8_t out[RTMFP_HASH])
{
    uint8_t block[BLOCK];
    SHA256_CTX c;

    for (size_t i = 0; i < BLOCK; i++)
        block[i] = key[i] ^ mix;
    SHA256_Init(&c);
    SHA256_Update(&c, block, BLOCK);
    SHA256_Update(&c, text.p, text.n);
    SHA256_Final(out, &c);
    OPENSSL_cleanse(block, sizeof(block));
    OPENSSL_cleanse(&c, sizeof(c));
}

void rtmfp_hmac(struct rtmfp_bytes key, struct rtmfp_bytes text, uint8_t out[RTMFP_HASH])
{
    uint8_t block[BLOCK] = { 0 }, inner[RTMFP_HASH];

    if (key.n > BLOCK)
        rtmfp_sha256(key, block);
    else if (key.n > 0)
        memcpy(block, key.p, key.n);
    half(block, 0x36, text, inner);
    half(block, 0x5c, rtmfp_bytes(inner, sizeof(inner)), out);
    OPENSSL_cleanse(block, sizeof(block));
}
