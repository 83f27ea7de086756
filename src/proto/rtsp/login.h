/* SPDX-License-Identifier: MIT */
/* login.h - the client's side of Basic and Digest: what an answer 401 asks for, said with each
 * request from then on. No I/O. */
#ifndef RTSP_LOGIN_H
#define RTSP_LOGIN_H

#include "proto/rtsp/digest.h"
#include "proto/rtsp/message.h"

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
