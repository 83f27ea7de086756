/* SPDX-License-Identifier: MIT */
/* fingerprint.c - the digest of a certificate as a session description says it, RFC 8122. */
#include "proto/dtls/dtls.h"

#include "base/text.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    size_t size;
} kinds[] = { [DTLS_SHA256] = { "sha-256", 32 }, [DTLS_SHA384] = { "sha-384", 48 },
              [DTLS_SHA512] = { "sha-512", 64 } };

/* "AB:CD:.." of just so many bytes. */
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
