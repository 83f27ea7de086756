/* SPDX-License-Identifier: MIT */
/* fingerprint.c - digests of certificates, as in session descriptions, RFC 8122. */
#include "proto/dtls/dtls.h"

#include "base/text.h"
#include "proto/dtls/own.h"

#include <ctype.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    size_t size;
} kinds[] = { [DTLS_SHA256] = { "sha-256", 32 }, [DTLS_SHA384] = { "sha-384", 48 },
              [DTLS_SHA512] = { "sha-512", 64 } };

/* Parses "AB:CD:.." with exactly this number of bytes. */
static bool read_hex(uint8_t *out, size_t bytes, const char *p, size_t size)
{
    if (size != bytes * 3 - 1)
        return false;
    for (size_t i = 0; i < bytes; i++, p += 3) {
        int byte = text_hex_byte(p);

        if (byte < 0 || (i + 1 < bytes && p[2] != ':'))
            return false;
        out[i] = (uint8_t)byte;
    }
    return true;
}

bool dtls_fingerprint_parse(struct dtls_fingerprint *f, const char *text, size_t size)
{
    const char *space = memchr(text, ' ', size);
    size_t name = space ? (size_t)(space - text) : 0, at = name;

    memset(f, 0, sizeof(*f));
    while (at < size && text[at] == ' ')
        at++;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (name == strlen(kinds[i].name) && strncasecmp(text, kinds[i].name, name) == 0) {
            f->kind = (enum dtls_digest)i;
            return read_hex(f->v, kinds[i].size, text + at, size - at);
        }
    }
    return false;
}

/* ---- digests of certificates: the expected ones, and our own */

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
