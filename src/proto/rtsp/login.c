/* SPDX-License-Identifier: MIT */
/* login.c - the client's side of Basic and Digest. */
#include "proto/rtsp/login.h"

#include "base/must.h"
#include "base/random_id.h"
#include "proto/http/basic.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
    l->again = 0;
}

/* Is the word in the list of qop? */
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

/* What hides the password better is more; 0: nothing that we can do. */
static int worth(const struct rtsp_login *l, const struct rtsp_digest *d)
{
    enum rtsp_hash hash;

    if (strcasecmp(d->scheme, "Basic") == 0)
        return l->hidden ? 0 : 1;
    if (strcasecmp(d->scheme, "Digest") != 0 || !rtsp_digest_hash(d, &hash) ||
        (*d->qop && !has_auth(d->qop)) || !*d->nonce)
        return 0;
    return hash == RTSP_MD5 ? 2 : 3;
}

/* The best of all challenges of all fields; its text is kept. */
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
            if (worth(l, &d) <= best)
                continue;
            best = worth(l, &d);
            l->asked = d;
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
    unsigned stale = best > 1 && strcasecmp(l->asked.stale, "true") == 0;

    if (best == 0 || l->again > stale)
        return false;
    l->again++;
    l->way = best == 1 ? RTSP_LOGIN_BASIC : RTSP_LOGIN_DIGEST;
    l->qop = best > 1 && *l->asked.qop;
    l->count = 0;
    if (best > 1)
        (void)rtsp_digest_hash(&l->asked, &l->hash);
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

/* A name that was escaped in a url may have anything in it. */
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

static void put_digest(struct rtsp_login *l, struct wr *w, const char *method, const char *url)
{
    char nc[NONCE_COUNT_SIZE], cnonce[CNONCE_SIZE], response[RTSP_RESPONSE_SIZE];
    struct rtsp_digest d = l->asked;

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
    if (l->way == RTSP_LOGIN_BASIC)
        put_basic(l, w);
    else if (l->way == RTSP_LOGIN_DIGEST)
        put_digest(l, w, method, url);
}
