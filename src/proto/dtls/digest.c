/* SPDX-License-Identifier: MIT */
/* digest.c - digests of certificates: those that a description says, and that of our own. */
#include "proto/dtls/own.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

bool dtls_fingerprint_is(const struct dtls_fingerprint *f, const X509 *certificate)
{
    const EVP_MD *md = f->kind == DTLS_SHA256   ? EVP_sha256()
                       : f->kind == DTLS_SHA384 ? EVP_sha384()
                                                : EVP_sha512();
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned size;

    return X509_digest(certificate, md, digest, &size) == 1 &&
           CRYPTO_memcmp(digest, f->v, size) == 0;
}

bool dtls_fingerprint_text(const X509 *certificate, char out[DTLS_FINGERPRINT_TEXT])
{
    static const char digits[] = "0123456789ABCDEF";
    uint8_t digest[EVP_MAX_MD_SIZE];
    unsigned size;

    if (X509_digest(certificate, EVP_sha256(), digest, &size) != 1)
        return false;
    for (unsigned i = 0; i < size; i++) {
        out[3 * i] = digits[digest[i] >> 4];
        out[3 * i + 1] = digits[digest[i] & 15];
        out[3 * i + 2] = i + 1 < size ? ':' : '\0';
    }
    return true;
}
