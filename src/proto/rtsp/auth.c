/* SPDX-License-Identifier: MIT */
/* auth.c - Basic and Digest authentication: parameters, server side, client side. */
#include "proto/rtsp/auth.h"

#include "base/must.h"
#include "base/random_id.h"
#include "base/url.h"
#include "proto/http/basic.h"

#include <openssl/evp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Takes a value, quoted or not, and replaces its closing quote, comma or space with a zero. */
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

/* Hashes these texts, joined with colons; the last element is NULL. */
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

enum { VALUE_MAX = 8192 };

/* Checks the user's password. Unknown users cost the same time. */
static bool is_password(const struct rtsp_auth_rules *rules, const char *user, const char *given)
{
    const char *password = rules->password(rules->arg, user);
    bool same = http_basic_same(given, strlen(given), password ? password : "",
                                password ? strlen(password) : 0);

    return same && password;
}

static enum rtsp_auth_result check_basic(const struct rtsp_auth_rules *rules, const char *value)
{
    char text[HTTP_BASIC_MAX], *colon;
    size_t size;

    if (!http_basic_get(value, text, &size))
        return RTSP_AUTH_WRONG;
    colon = strchr(text, ':');
    if (!colon)
        return RTSP_AUTH_WRONG;
    *colon = '\0';
    return is_password(rules, text, colon + 1) ? RTSP_AUTH_RIGHT : RTSP_AUTH_WRONG;
}

/* Returns the path and query of a URL, without trailing slashes. */
static const char *path_of(const char *url, size_t *size)
{
    url = url_split(url, strlen(url)).path;
    *size = strlen(url);
    while (*size > 0 && url[*size - 1] == '/')
        --*size;
    return url;
}

/* Checks whether the uri in the credentials fits the request. Clients send the URL of the request,
 * that of the stream in a request for a track, or only the path. Hosts are not compared: they
 * differ behind address translation. */
static bool is_for(const char *uri, const char *url)
{
    size_t n, most;
    const char *a = path_of(uri, &n), *b = path_of(url, &most);

    return strcmp(uri, url) == 0 ||
           (n <= most && memcmp(a, b, n) == 0 && (n == most || b[n] == '/' || b[n] == '?'));
}

/* RFC 2617 3.2.2: computes the response for the client's nonce, realm, user and uri, and
 * compares. */
static bool proves(const struct rtsp_digest *d, enum rtsp_hash hash,
                   const struct rtsp_auth_rules *rules, const char *method)
{
    const char *password = rules->password(rules->arg, d->username);
    char want[RTSP_RESPONSE_SIZE], given[RTSP_RESPONSE_SIZE];
    size_t n = strlen(d->response);
    bool same;

    if (!rtsp_digest_response(d, hash, password ? password : "", method, want) ||
        n >= sizeof(given))
        return false;
    for (size_t i = 0; i <= n; i++) {
        char c = d->response[i];

        given[i] = c >= 'A' && c <= 'F' ? (char)(c | 0x20) : c;
    }
    same = http_basic_same(given, n, want, strlen(want));
    return same && password;
}

static enum rtsp_auth_result check_digest(struct rtsp_auth *a, const struct rtsp_auth_rules *rules,
                                          const struct rtsp_message *req, char *value, co_usec now)
{
    struct rtsp_digest d;
    enum rtsp_hash hash;

    if (!rtsp_digest_next(&value, &d) || !rtsp_digest_hash(&d, &hash) ||
        !(rules->schemes & (hash == RTSP_MD5 ? RTSP_AUTH_MD5 : RTSP_AUTH_SHA256)))
        return RTSP_AUTH_WRONG;
    if ((*d.qop && strcasecmp(d.qop, "auth") != 0) || strcmp(d.realm, rules->realm) != 0 ||
        !is_for(d.uri, req->url) || !proves(&d, hash, rules, req->verb))
        return RTSP_AUTH_WRONG;
    if (*a->nonce && strcmp(d.nonce, a->nonce) == 0 && now - a->created_at < RTSP_NONCE_TIME)
        return RTSP_AUTH_RIGHT;
    return a->stale ? RTSP_AUTH_WRONG : RTSP_AUTH_STALE; /* "stale" is sent only once to a client
                                                          * that ignores it */
}

static enum rtsp_auth_result check(struct rtsp_auth *a, const struct rtsp_auth_rules *rules,
                                   const struct rtsp_message *req, co_usec now)
{
    const char *value = rtsp_message_field(req, "Authorization");
    enum rtsp_auth_result result;
    char *copy;

    if (!value || !*value)
        return RTSP_AUTH_NOTHING;
    if (strncasecmp(value, "Basic ", 6) == 0)
        return rules->schemes & RTSP_AUTH_BASIC ? check_basic(rules, value) : RTSP_AUTH_NOTHING;
    if (strncasecmp(value, "Digest ", 7) != 0 || strlen(value) > VALUE_MAX)
        return RTSP_AUTH_NOTHING;
    copy = strdup(value);
    result = copy ? check_digest(a, rules, req, copy, now) : RTSP_AUTH_NOTHING;
    free(copy);
    return result;
}

enum rtsp_auth_result rtsp_auth_check(struct rtsp_auth *a, const struct rtsp_auth_rules *rules,
                                      const struct rtsp_message *req, co_usec now)
{
    enum rtsp_auth_result result = check(a, rules, req, now);

    a->failures = result == RTSP_AUTH_RIGHT ? 0 : a->failures + (result == RTSP_AUTH_WRONG);
    a->stale = result == RTSP_AUTH_STALE;
    return result;
}

static void put_digest(const struct rtsp_auth *a, const struct rtsp_auth_rules *rules,
                       const char *more, struct wr *w)
{
    rtsp_put_name(w, "WWW-Authenticate");
    wr_printf(w, "Digest realm=\"%s\", nonce=\"%s\"%s%s", rules->realm, a->nonce,
              a->stale ? ", stale=true" : "", more);
    rtsp_put_line_end(w);
}

void rtsp_auth_put(struct rtsp_auth *a, const struct rtsp_auth_rules *rules, co_usec now,
                   struct wr *w)
{
    if (!*a->nonce || now - a->created_at >= RTSP_NONCE_TIME) {
        random_id(a->nonce, RTSP_NONCE_SIZE - 1);
        a->created_at = now;
    }
    if (rules->schemes & RTSP_AUTH_SHA256)
        put_digest(a, rules, ", algorithm=SHA-256", w);
    if (rules->schemes & RTSP_AUTH_MD5)
        put_digest(a, rules, "", w);
    if (rules->schemes & RTSP_AUTH_BASIC)
        rtsp_put_format(w, "WWW-Authenticate", "Basic realm=\"%s\"", rules->realm);
}

/* ---- client side of Basic and Digest */

enum { CHALLENGE_MAX = 4096, NONCE_COUNT_SIZE = 9, CNONCE_SIZE = 17 };

void rtsp_login_init(struct rtsp_login *l, const char *user, const char *password)
{
    *l = (struct rtsp_login){ .user = must_dup(user), .password = must_dup(password) };
}

void rtsp_login_fini(struct rtsp_login *l)
{
    free(l->user);
    free(l->password);
    free(l->challenge);
    *l = (struct rtsp_login){ .user = NULL };
}

void rtsp_login_begin(struct rtsp_login *l)
{
    l->retries = 0;
}

/* Returns whether the qop list contains "auth". */
static bool has_auth(const char *qop)
{
    for (size_t n; *qop; qop += n) {
        qop += strspn(qop, ", \t");
        n = strcspn(qop, ", \t");
        if (n == 4 && strncasecmp(qop, "auth", n) == 0)
            return true;
    }
    return false;
}

/* Rates a challenge: higher values hide the password better; 0 means unsupported. */
static int rating(const struct rtsp_login *l, const struct rtsp_digest *d)
{
    enum rtsp_hash hash;

    if (strcasecmp(d->scheme, "Basic") == 0)
        return l->hidden ? 0 : 1;
    if (strcasecmp(d->scheme, "Digest") != 0 || !rtsp_digest_hash(d, &hash) ||
        (*d->qop && !has_auth(d->qop)) || !*d->nonce)
        return 0;
    return hash == RTSP_MD5 ? 2 : 3;
}

/* Chooses the best challenge of all fields and keeps its text. */
static int choose(struct rtsp_login *l, const struct rtsp_message *answer)
{
    const char *value;
    unsigned from = 0;
    int best = 0;

    while ((value = rtsp_message_next(answer, "WWW-Authenticate", &from))) {
        char *copy = strlen(value) <= CHALLENGE_MAX ? must_dup(value) : NULL, *rest = copy;
        struct rtsp_digest d;
        bool better = false;

        while (copy && rtsp_digest_next(&rest, &d)) {
            if (rating(l, &d) <= best)
                continue;
            best = rating(l, &d);
            l->digest = d;
            better = true;
        }
        if (better) {
            free(l->challenge);
            l->challenge = copy;
        } else {
            free(copy);
        }
    }
    return best;
}

bool rtsp_login_challenged(struct rtsp_login *l, const struct rtsp_message *answer)
{
    int best = *l->user || *l->password ? choose(l, answer) : 0;
    unsigned stale = best > 1 && strcasecmp(l->digest.stale, "true") == 0;

    if (best == 0 || l->retries > stale)
        return false;
    l->retries++;
    l->scheme = best == 1 ? RTSP_LOGIN_BASIC : RTSP_LOGIN_DIGEST;
    l->qop = best > 1 && *l->digest.qop;
    l->count = 0;
    if (best > 1)
        (void)rtsp_digest_hash(&l->digest, &l->hash);
    return true;
}

static void put_basic(const struct rtsp_login *l, struct wr *w)
{
    char *text = must_print("%s:%s", l->user, l->password);

    rtsp_put_name(w, "Authorization");
    http_basic_put(w, text);
    rtsp_put_line_end(w);
    free(text);
}

/* A name that was escaped in a URL may contain any character. */
static void put_quoted(struct wr *w, const char *text)
{
    wr_u8(w, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            wr_u8(w, '\\');
        if ((unsigned char)*text >= ' ')
            wr_u8(w, (uint8_t)*text);
    }
    wr_u8(w, '"');
}

static void put_response(struct rtsp_login *l, struct wr *w, const char *method, const char *url)
{
    char nc[NONCE_COUNT_SIZE], cnonce[CNONCE_SIZE], response[RTSP_RESPONSE_SIZE];
    struct rtsp_digest d = l->digest;

    (void)snprintf(nc, sizeof(nc), "%08x", ++l->count);
    random_id(cnonce, sizeof(cnonce) - 1);
    d.username = l->user;
    d.uri = url;
    d.nc = nc;
    d.cnonce = cnonce;
    d.qop = l->qop ? "auth" : "";
    if (!rtsp_digest_response(&d, l->hash, l->password, method, response))
        return;
    rtsp_put_name(w, "Authorization");
    wr_text(w, "Digest username=");
    put_quoted(w, d.username);
    wr_printf(w, ", realm=\"%s\", nonce=\"%s\", uri=\"%s\", response=\"%s\"", d.realm, d.nonce,
              d.uri, response);
    if (*d.algorithm)
        wr_printf(w, ", algorithm=%s", d.algorithm);
    if (*d.opaque)
        wr_printf(w, ", opaque=\"%s\"", d.opaque);
    if (l->qop)
        wr_printf(w, ", qop=auth, nc=%s, cnonce=\"%s\"", nc, cnonce);
    rtsp_put_line_end(w);
}

void rtsp_login_put(struct rtsp_login *l, struct wr *w, const char *method, const char *url)
{
    if (l->scheme == RTSP_LOGIN_BASIC)
        put_basic(l, w);
    else if (l->scheme == RTSP_LOGIN_DIGEST)
        put_response(l, w, method, url);
}
