/* SPDX-License-Identifier: MIT */
/* auth.h - who asks: the server's side of Basic and Digest: RFC 7617, RFC 2617, RFC 7616. No I/O.
 *
 * A connection has a number used once (nonce) of its own, random, that is good for some minutes.
 * Nothing is remembered of those before it: who comes with another one and the right password is
 * told "stale" and comes again at once, without asking its user.
 */
#ifndef RTSP_AUTH_H
#define RTSP_AUTH_H

#include "co/co.h"
#include "proto/rtsp/message.h"

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

#endif
