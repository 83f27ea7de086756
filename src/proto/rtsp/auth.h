/* SPDX-License-Identifier: MIT */
/* auth.h - Basic and Digest authentication of both sides (RFC 7617, RFC 2617, RFC 7616). No I/O.
 *
 * Each connection has its own random nonce, valid for some minutes. Earlier nonces are not
 * remembered: a client that uses another nonce with the right password gets "stale" and retries at
 * once, without a prompt for its user.
 */
#ifndef PROTO_RTSP_AUTH_H
#define PROTO_RTSP_AUTH_H

#include "co/co.h"
#include "proto/rtsp/message.h"

#include <stdbool.h>

/* ---- parameters of challenges and credentials, and responses (RFC 2617, RFC 7616) */

enum rtsp_hash { RTSP_MD5, RTSP_SHA256 };

enum { RTSP_RESPONSE_SIZE = 65 }; /* digits of the longest response, and a zero */

/* Parameters of a challenge or of credentials. A missing one is "", never NULL. A quoted value is
 * the text between the quotes, including its backslashes, because this form is hashed and sent
 * back. */
struct rtsp_digest {
    const char *scheme; /* "Digest", "Basic" */
    const char *realm, *nonce, *opaque, *algorithm, *qop, *stale; /* in challenges */
    const char *username, *uri, *response, *cnonce, *nc;          /* in credentials too */
};

/* Parses the next challenge in a text; a field may contain several. Modifies the text, which then
 * holds the strings, and moves *text past the challenge. Returns false at the end. */
bool rtsp_digest_next(char **text, struct rtsp_digest *out);

/* Returns the hash that `algorithm` names; MD5 if it is missing. Returns false for an unknown
 * one. */
bool rtsp_digest_hash(const struct rtsp_digest *d, enum rtsp_hash *out);

/* Computes the response, in lower-case hexadecimal. Uses the realm, nonce, username and uri of `d`,
 * and with qop=auth (d->qop) its cnonce and nc. Returns `out`, or NULL if this OpenSSL lacks the
 * hash. */
const char *rtsp_digest_response(const struct rtsp_digest *d, enum rtsp_hash hash,
                                 const char *password, const char *method,
                                 char out[RTSP_RESPONSE_SIZE]);

enum rtsp_auth_scheme { RTSP_AUTH_BASIC = 1, RTSP_AUTH_MD5 = 2, RTSP_AUTH_SHA256 = 4 };

enum { RTSP_AUTH_FAILURES = 5, RTSP_NONCE_SIZE = 33 };
#define RTSP_NONCE_TIME CO_SECONDS(300)

struct rtsp_auth_rules {
    const char *realm; /* must not contain quotes or backslashes */
    unsigned schemes;     /* bits of enum rtsp_auth_scheme */
    /* Returns the password of a user, or NULL if there is no such user. */
    const char *(*password)(void *arg, const char *user);
    void *arg;
};

struct rtsp_auth { /* state of a connection; zeroed at start */
    char nonce[RTSP_NONCE_SIZE];
    co_usec created_at;
    bool stale;        /* the last response had stale=true */
    unsigned failures; /* after RTSP_AUTH_FAILURES the connection should end */
};

enum rtsp_auth_result {
    RTSP_AUTH_NOTHING, /* no credentials of an allowed scheme */
    RTSP_AUTH_RIGHT,
    RTSP_AUTH_STALE,   /* right password, but expired or unknown nonce */
    RTSP_AUTH_WRONG,   /* counted; the caller delays the response to slow down guessing */
};

/* Checks the request's Authorization. Any result except RTSP_AUTH_RIGHT requires a 401 with
 * challenges. */
enum rtsp_auth_result rtsp_auth_check(struct rtsp_auth *a, const struct rtsp_auth_rules *rules,
                                      const struct rtsp_message *req, co_usec now);
/* Writes the fields of this 401: a WWW-Authenticate per scheme, starting with those that hide the
 * password. MD5 is offered without qop, which all cameras and players support. Among several
 * digests FFmpeg takes the last one. */
void rtsp_auth_put(struct rtsp_auth *a, const struct rtsp_auth_rules *rules, co_usec now,
                   struct wr *w);

/* ---- client side of Basic and Digest: credentials that a 401 requests, sent with each later
 * request. No I/O. */

enum rtsp_login_scheme { RTSP_LOGIN_NONE, RTSP_LOGIN_BASIC, RTSP_LOGIN_DIGEST };

struct rtsp_login {
    char *user, *password;    /* "" if there is none */
    enum rtsp_login_scheme scheme;
    enum rtsp_hash hash;
    bool hidden;              /* use only schemes that hide the password: never Basic */
    bool qop;
    unsigned retries;         /* number of times the current request was challenged */
    uint32_t count;           /* requests sent with this nonce */
    char *challenge;          /* text that holds the strings of `digest` */
    struct rtsp_digest digest;
};

void rtsp_login_init(struct rtsp_login *l, const char *user, const char *password);
void rtsp_login_fini(struct rtsp_login *l); /* works on a zeroed struct */

/* Starts a new request, as opposed to a retry of the last one. */
void rtsp_login_begin(struct rtsp_login *l);
/* Handles a 401; returns true if the request must be sent again. It is retried once, because some
 * servers use a new realm and nonce for each request, and once more if the server says that the
 * nonce is stale. Returns false if the password is wrong or missing, or if no scheme is known. */
bool rtsp_login_challenged(struct rtsp_login *l, const struct rtsp_message *answer);
/* Writes the Authorization field of a request, if the server required one. */
void rtsp_login_put(struct rtsp_login *l, struct wr *w, const char *method, const char *url);

#endif
