/* SPDX-License-Identifier: MIT */
/* auth.c - who asks: the server's side of Basic and Digest. */
#include "proto/rtsp/auth.h"

#include "base/random_id.h"
#include "proto/http/basic.h"
#include "proto/rtsp/digest.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { VALUE_MAX = 8192 };

/* Is it the password of the user? The work is the same where there is no such user. */
static bool is_password(const struct rtsp_auth_rules *rules, const char *user, const char *given)
{
    const char *password = rules->password(rules->arg, user);
    bool same = http_basic_same(given, strlen(given), password ? password : "",
                                password ? strlen(password) : 0);

    return same && password;
}

static enum rtsp_auth_said check_basic(const struct rtsp_auth_rules *rules, const char *value)
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

/* The path of a url with its query, without slashes at the end. */
static const char *path_of(const char *url, size_t *size)
{
    const char *host = strstr(url, "://");

    if (host)
        url = host + 3 + strcspn(host + 3, "/?");
    *size = strlen(url);
    while (*size > 0 && url[*size - 1] == '/')
        --*size;
    return url;
}

/* Clients say the url of the request, the one of the stream when it is one of a track, or the path
 * alone. Hosts differ behind address translation. */
static bool is_for(const char *uri, const char *url)
{
    size_t n, most;
    const char *a = path_of(uri, &n), *b = path_of(url, &most);

    return strcmp(uri, url) == 0 ||
           (n <= most && memcmp(a, b, n) == 0 && (n == most || b[n] == '/' || b[n] == '?'));
}

/* RFC 2617 3.2.2: with its own nonce, realm, user and url. */
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

static enum rtsp_auth_said check_digest(struct rtsp_auth *a, const struct rtsp_auth_rules *rules,
                                        const struct rtsp_message *req, char *value, co_usec now)
{
    struct rtsp_digest d;
    enum rtsp_hash hash;

    if (!rtsp_digest_next(&value, &d) || !rtsp_digest_hash(&d, &hash) ||
        !(rules->ways & (hash == RTSP_MD5 ? RTSP_AUTH_MD5 : RTSP_AUTH_SHA256)))
        return RTSP_AUTH_WRONG;
    if ((*d.qop && strcasecmp(d.qop, "auth") != 0) || strcmp(d.realm, rules->realm) != 0 ||
        !is_for(d.uri, req->url) || !proves(&d, hash, rules, req->verb))
        return RTSP_AUTH_WRONG;
    if (*a->nonce && strcmp(d.nonce, a->nonce) == 0 && now - a->made < RTSP_NONCE_TIME)
        return RTSP_AUTH_RIGHT;
    return a->stale ? RTSP_AUTH_WRONG : RTSP_AUTH_STALE; /* who does not hear is told once */
}

static enum rtsp_auth_said check(struct rtsp_auth *a, const struct rtsp_auth_rules *rules,
                                 const struct rtsp_message *req, co_usec now)
{
    const char *value = rtsp_message_field(req, "Authorization");
    enum rtsp_auth_said said;
    char *copy;

    if (!value || !*value)
        return RTSP_AUTH_NOTHING;
    if (strncasecmp(value, "Basic ", 6) == 0)
        return rules->ways & RTSP_AUTH_BASIC ? check_basic(rules, value) : RTSP_AUTH_NOTHING;
    if (strncasecmp(value, "Digest ", 7) != 0 || strlen(value) > VALUE_MAX)
        return RTSP_AUTH_NOTHING;
    copy = strdup(value);
    said = copy ? check_digest(a, rules, req, copy, now) : RTSP_AUTH_NOTHING;
    free(copy);
    return said;
}

enum rtsp_auth_said rtsp_auth_check(struct rtsp_auth *a, const struct rtsp_auth_rules *rules,
                                    const struct rtsp_message *req, co_usec now)
{
    enum rtsp_auth_said said = check(a, rules, req, now);

    a->failures = said == RTSP_AUTH_RIGHT ? 0 : a->failures + (said == RTSP_AUTH_WRONG);
    a->stale = said == RTSP_AUTH_STALE;
    return said;
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
    if (!*a->nonce || now - a->made >= RTSP_NONCE_TIME) {
        random_id(a->nonce, RTSP_NONCE_SIZE - 1);
        a->made = now;
    }
    if (rules->ways & RTSP_AUTH_SHA256)
        put_digest(a, rules, ", algorithm=SHA-256", w);
    if (rules->ways & RTSP_AUTH_MD5)
        put_digest(a, rules, "", w);
    if (rules->ways & RTSP_AUTH_BASIC)
        rtsp_put_format(w, "WWW-Authenticate", "Basic realm=\"%s\"", rules->realm);
}
