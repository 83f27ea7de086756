/* SPDX-License-Identifier: MIT */
/* digest.c - what challenges and credentials say, and how a response is made. */
#include "proto/rtsp/digest.h"

#include "base/must.h"

#include <openssl/evp.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* ---- parameters */

static const struct {
    const char *name;
    size_t at;
} params[] = {
    { "realm", offsetof(struct rtsp_digest, realm) },
    { "nonce", offsetof(struct rtsp_digest, nonce) },
    { "opaque", offsetof(struct rtsp_digest, opaque) },
    { "algorithm", offsetof(struct rtsp_digest, algorithm) },
    { "qop", offsetof(struct rtsp_digest, qop) },
    { "stale", offsetof(struct rtsp_digest, stale) },
    { "username", offsetof(struct rtsp_digest, username) },
    { "uri", offsetof(struct rtsp_digest, uri) },
    { "response", offsetof(struct rtsp_digest, response) },
    { "cnonce", offsetof(struct rtsp_digest, cnonce) },
    { "nc", offsetof(struct rtsp_digest, nc) },
};

static void set(struct rtsp_digest *d, const char *name, size_t size, const char *value)
{
    for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
        if (strlen(params[i].name) == size && strncasecmp(params[i].name, name, size) == 0) {
            *(const char **)((char *)d + params[i].at) = value;
            return;
        }
    }
}

/* A value, in quotes or not; it ends with a 0 where its quote, comma or space was. */
static char *take_value(char **p)
{
    char *begin = *p, *end = begin;

    if (*begin == '"') {
        end = ++begin;
        while (*end && *end != '"')
            end += end[0] == '\\' && end[1] ? 2 : 1;
    } else {
        end += strcspn(end, ", \t");
    }
    *p = *end ? end + 1 : end;
    *end = '\0';
    return begin;
}

bool rtsp_digest_next(char **text, struct rtsp_digest *out)
{
    static const struct rtsp_digest none = { "", "", "", "", "", "", "", "", "", "", "", "" };
    char *scheme = *text + strspn(*text, ", \t"), *p, *name, *end;
    size_t n = strcspn(scheme, ", \t");

    *out = none;
    if (n == 0)
        return false;
    for (p = scheme + n;;) {
        name = p + strspn(p, ", \t");
        end = name + strcspn(name, "=, \t");
        p = end + strspn(end, " \t");
        if (*p != '=') /* the next scheme, or the end */
            break;
        p++;
        p += strspn(p, " \t");
        set(out, name, (size_t)(end - name), take_value(&p));
    }
    scheme[n] = '\0';
    out->scheme = scheme;
    *text = name;
    return true;
}

bool rtsp_digest_hash(const struct rtsp_digest *d, enum rtsp_hash *out)
{
    *out = strcasecmp(d->algorithm, "SHA-256") == 0 ? RTSP_SHA256 : RTSP_MD5;
    return *out == RTSP_SHA256 || !*d->algorithm || strcasecmp(d->algorithm, "MD5") == 0;
}

/* ---- the response */

/* The hash of these texts with colons between them, the last one is NULL. */
static bool hash_of(enum rtsp_hash hash, const char *const *texts, char out[RTSP_RESPONSE_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    const EVP_MD *md = hash == RTSP_SHA256 ? EVP_sha256() : EVP_md5();
    EVP_MD_CTX *c = must(EVP_MD_CTX_new());
    unsigned char sum[EVP_MAX_MD_SIZE];
    unsigned size = 0;
    bool ok = EVP_DigestInit_ex(c, md, NULL) == 1;

    for (size_t i = 0; ok && texts[i]; i++) {
        ok = (i == 0 || EVP_DigestUpdate(c, ":", 1) == 1) &&
             EVP_DigestUpdate(c, texts[i], strlen(texts[i])) == 1;
    }
    ok = ok && EVP_DigestFinal_ex(c, sum, &size) == 1 && size * 2 < RTSP_RESPONSE_SIZE;
    EVP_MD_CTX_free(c);
    for (unsigned i = 0; ok && i < size; i++) {
        out[2 * i] = digits[sum[i] >> 4];
        out[2 * i + 1] = digits[sum[i] & 15];
    }
    out[ok ? size * 2 : 0] = '\0';
    return ok;
}

const char *rtsp_digest_response(const struct rtsp_digest *d, enum rtsp_hash hash,
                                 const char *password, const char *method,
                                 char out[RTSP_RESPONSE_SIZE])
{
    char a1[RTSP_RESPONSE_SIZE], a2[RTSP_RESPONSE_SIZE];
    const char *const of_a1[] = { d->username, d->realm, password, NULL };
    const char *const of_a2[] = { method, d->uri, NULL };
    const char *const plain[] = { a1, d->nonce, a2, NULL };
    const char *const with_qop[] = { a1, d->nonce, d->nc, d->cnonce, d->qop, a2, NULL };

    if (!hash_of(hash, of_a1, a1) || !hash_of(hash, of_a2, a2) ||
        !hash_of(hash, *d->qop ? with_qop : plain, out))
        return NULL;
    return out;
}
