/* SPDX-License-Identifier: MIT */
/* client.h - a client's side of the conversation: what it says, and what to make of the answers. No
 * I/O.
 *
 * A request is written (rtsp_client_put), its answer given back (rtsp_client_hear): it is done, or
 * is to be said again now that the client knows how to log in, or elsewhere.
 */
#ifndef PROTO_RTSP_CLIENT_H
#define PROTO_RTSP_CLIENT_H

#include "proto/rtsp/auth.h"
#include "proto/rtsp/session.h"
#include "proto/rtsp/url.h"

enum { RTSP_REDIRECTS_MAX = 5 };

struct rtsp_client {
    struct rtsp_location place;    /* whom to ask */
    struct rtsp_login login;
    const char *agent;          /* User-Agent, or NULL */
    char session[RTSP_SESSION_ID_MAX + 1]; /* "": none yet */
    int timeout;                /* of it, in seconds; 0: not told */
    unsigned methods;           /* that the server said it has; 0: it did not say */
    int status;                 /* of the last answer */
    unsigned redirects;
    uint32_t cseq, asked, alive; /* of the last request, the one under way, the sign of life */
    enum rtsp_method method;    /* of the one under way */
    enum rtsp_method alive_by;  /* of the sign of life; RTSP_OTHER: the server wants none */
};

enum rtsp_heard {
    RTSP_HEARD_DONE,    /* it was done: status 2xx */
    RTSP_HEARD_OTHER,   /* not the answer: that of a sign of life, or one that was not asked for */
    RTSP_HEARD_AGAIN,   /* say it again, with credentials */
    RTSP_HEARD_MOVED,   /* `place` is another one: begin there anew */
    RTSP_HEARD_LOGIN,   /* the password is wrong, or there is none */
    RTSP_HEARD_REFUSED, /* `status` says why */
};

/* A field more of a request. */
struct rtsp_more {
    const char *name, *value;
};

/* ERR_RTSP: that is no url. Then nothing is to free. */
err_t rtsp_client_init(struct rtsp_client *c, const char *url) __attribute__((warn_unused_result));
void rtsp_client_fini(struct rtsp_client *c); /* all zero is fine */

/* A request for that url (NULL: the one of the place): to say it again, it is written again. */
void rtsp_client_put(struct rtsp_client *c, struct wr *w, enum rtsp_method method, const char *url,
                     const struct rtsp_more *more, size_t n, const void *body, size_t size);
enum rtsp_heard rtsp_client_hear(struct rtsp_client *c, const struct rtsp_message *m);

/* What tracks of the description in this answer are relative to; to be freed. Its host is the one
 * that was asked. */
char *rtsp_client_base(const struct rtsp_client *c, const struct rtsp_message *answer);

/* A sign of life, whose answer nobody waits for. False: the server has none that it likes. */
bool rtsp_client_put_alive(struct rtsp_client *c, struct wr *w, const char *url);
int  rtsp_client_alive_every(const struct rtsp_client *c); /* seconds */

#endif
