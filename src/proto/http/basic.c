/* SPDX-License-Identifier: MIT */
/* basic.c - HTTP Basic authentication. */
#include "proto/http/basic.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/sha.h>
#include <string.h>
#include <strings.h>

bool http_basic_get(const char *value, char out[HTTP_BASIC_MAX], size_t *size)
{
    unsigned char plain[HTTP_BASIC_MAX + 4];
    size_t n;
    int got;

    if (!value || strncasecmp(value, "Basic ", 6) != 0)
        return false;
    value += 6 + strspn(value + 6, " ");
    n = strlen(value);
    if (n == 0 || n > HTTP_BASIC_MAX || n % 4 != 0)
        return false;
    got = EVP_DecodeBlock(plain, (const unsigned char *)value, (int)n);
    for (size_t i = n; i > 0 && value[i - 1] == '='; i--)
        got--;
    if (got < 0 || memchr(plain, '\0', (size_t)got))
        return false;
    memcpy(out, plain, (size_t)got);
    out[got] = '\0';
    *size = (size_t)got;
    return true;
}

void http_basic_put(struct wr *w, const char *name_and_password)
{
    unsigned char token[HTTP_BASIC_MAX];
    size_t n = strlen(name_and_password);

    if (n > HTTP_BASIC_MAX / 2)
        n = HTTP_BASIC_MAX / 2;
    (void)EVP_EncodeBlock(token, (const unsigned char *)name_and_password, (int)n);
    wr_printf(w, "Basic %s", (const char *)token);
}

bool http_basic_same(const void *a, size_t a_size, const void *b, size_t b_size)
{
    unsigned char x[SHA256_DIGEST_LENGTH], y[SHA256_DIGEST_LENGTH];

    (void)SHA256(a, a_size, x);
    (void)SHA256(b, b_size, y);
    return CRYPTO_memcmp(x, y, sizeof(x)) == 0;
}
