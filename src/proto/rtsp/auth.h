/* SPDX-License-Identifier: MIT */
/* auth.h - who asks: the server's side of Basic and Digest: RFC 7617, RFC 2617, RFC 7616. No I/O.
 *
 * A connection has a number used once (nonce) of its own, random, that is good for some minutes.
 * Nothing is remembered of those before it: who comes with another one and the right password is
 * told "stale" and comes again at once, without asking its user.
 */
#ifndef PROTO_RTSP_AUTH_H
#define PROTO_RTSP_AUTH_H

#include "co/co.h"
#include "proto/rtsp/message.h"

#include <stdbool.h>

/* ---- what challenges and credentials say, and responses: RFC 2617, RFC 7616. */

enum rtsp_hash { RTSP_MD5, RTSP_SHA256 };

enum { RTSP_RESPONSE_SIZE = 65 }; /* digits of the longest one, and a 0 */

/* Parameters of one challenge, or of credentials. Never NULL: "" is not there. A quoted one is what
 * stands between the quotes, its backslashes too: so it is hashed, and so it is sent back. */
struct rtsp_digest {
    const char *scheme; /* "Digest", "Basic" */
    const char *realm, *nonce, *opaque, *algorithm, *qop, *stale; /* challenges */
    const char *username, *uri, *response, *cnonce, *nc;          /* credentials, too */
};

/* The next one in a text that is changed, which holds its strings then: fields may have several
 * challenges. *text goes on behind it. False: there is none any more. */
bool rtsp_digest_next(char **text, struct rtsp_digest *out);

/* The hash that `algorithm` names: none is MD5. False: another one. */
bool rtsp_digest_hash(const struct rtsp_digest *d, enum rtsp_hash *out);

/* Of `d` are used: realm, nonce, username, uri, and with qop=auth (d->qop) cnonce and nc. Gives
 * `out`, hexadecimal in lower case; NULL: this OpenSSL has no such hash. */
const char *rtsp_digest_response(const struct rtsp_digest *d, enum rtsp_hash hash,
                                 const char *password, const char *method,
                                 char out[RTSP_RESPONSE_SIZE]);

enum rtsp_auth_way { RTSP_AUTH_BASIC = 1, RTSP_AUTH_MD5 = 2, RTSP_AUTH_SHA256 = 4 };

enum { RTSP_AUTH_FAILURES = 5, RTSP_NONCE_SIZE = 33 };
#define RTSP_NONCE_TIME CO_SECONDS(300)

struct rtsp_auth_rules {
    const char *realm; /* without quotes and backslashes */
    unsigned ways;     /* of enum rtsp_auth_way */
    /* The password of a user, or NULL: there is none of that name. */
    const char *(*password)(void *arg, const char *user);
    void *arg;
};

struct rtsp_auth { /* of a connection; starts as zeros */
    char nonce[RTSP_NONCE_SIZE];
    co_usec made;
    bool stale;        /* the last answer said so */
    unsigned failures; /* after RTSP_AUTH_FAILURES the connection should end */
};

enum rtsp_auth_said {
    RTSP_AUTH_NOTHING, /* no credentials that are allowed here */
    RTSP_AUTH_RIGHT,
    RTSP_AUTH_STALE,   /* the right password, for a nonce that is over */
    RTSP_AUTH_WRONG,   /* counted; a pause before the answer makes guessing slow */
};

/* What the request's Authorization proves; all but RTSP_AUTH_RIGHT is answered by 401 with
 * challenges. */
enum rtsp_auth_said rtsp_auth_check(struct rtsp_auth *a, const struct rtsp_auth_rules *rules,
                                    const struct rtsp_message *req, co_usec now);
/* Fields of that answer: a WWW-Authenticate for each way, those that hide the password first. MD5
 * without qop is what cameras and players know; of several digests FFmpeg takes the last one. */
void rtsp_auth_put(struct rtsp_auth *a, const struct rtsp_auth_rules *rules, co_usec now,
                   struct wr *w);

/* ---- the client's side of Basic and Digest: what an answer 401 asks for, said with each
 * request from then on. No I/O.
 */

enum rtsp_login_way { RTSP_LOGIN_NONE, RTSP_LOGIN_BASIC, RTSP_LOGIN_DIGEST };

struct rtsp_login {
    char *user, *password;    /* "": there is none */
    enum rtsp_login_way way;
    enum rtsp_hash hash;
    bool hidden;              /* only in ways that hide the password: never Basic */
    bool qop;
    unsigned again;           /* how often the request under way was challenged */
    uint32_t count;           /* requests with this nonce */
    char *challenge;          /* the text that `asked` is in */
    struct rtsp_digest asked;
};

void rtsp_login_init(struct rtsp_login *l, const char *user, const char *password);
void rtsp_login_fini(struct rtsp_login *l); /* all zero is fine */

/* A new request begins, which is not the one before said again. */
void rtsp_login_begin(struct rtsp_login *l);
/* The answer was 401: is the request to be said again? Once, since some servers have another realm
 * and nonce for each request, and once more if they say that the nonce is stale. False: the
 * password is wrong (or there is none), or nothing is asked for that we know. */
bool rtsp_login_challenged(struct rtsp_login *l, const struct rtsp_message *answer);
/* The field Authorization of a request, if one was asked for. */
void rtsp_login_put(struct rtsp_login *l, struct wr *w, const char *method, const char *url);

#endif
