/* SPDX-License-Identifier: MIT */
/* client.h - client side of RTSP: writes requests and interprets responses. No I/O.
 *
 * The caller writes a request (rtsp_client_put) and passes in its response (rtsp_client_response).
 * The request is then done, or must be sent again with credentials or to another server.
 */
#ifndef PROTO_RTSP_CLIENT_H
#define PROTO_RTSP_CLIENT_H

#include "proto/rtsp/auth.h"
#include "proto/rtsp/session.h"
#include "proto/rtsp/url.h"

enum { RTSP_REDIRECTS_MAX = 5 };

struct rtsp_client {
    struct rtsp_location location;    /* server and URL */
    struct rtsp_login login;
    const char *agent;          /* User-Agent, or NULL */
    char session[RTSP_SESSION_ID_MAX + 1]; /* "": none yet */
    int timeout;                /* session timeout in seconds; 0: unknown */
    unsigned methods;           /* supported by the server, as a set; 0: unknown */
    int status;                 /* status of the last response */
    unsigned redirects;
    uint32_t cseq, pending, keepalive; /* CSeq of the last request, of the pending one, of the
                                  * keepalive */
    enum rtsp_method method;    /* method of the pending request */
    enum rtsp_method keepalive_method; /* RTSP_OTHER: the server accepts no keepalive */
};

enum rtsp_result {
    RTSP_RESULT_DONE,    /* success: status 2xx */
    RTSP_RESULT_OTHER,   /* a response to a keepalive, or one without a request */
    RTSP_RESULT_AGAIN,   /* send the request again, with credentials */
    RTSP_RESULT_MOVED,   /* redirected: `location` has changed, start again there */
    RTSP_RESULT_LOGIN,   /* the password is wrong or missing */
    RTSP_RESULT_REFUSED, /* `status` has the reason */
};

/* An additional field of a request. */
struct rtsp_extra {
    const char *name, *value;
};

/* ERR_RTSP for an invalid URL. Then there is nothing to free. */
err_t rtsp_client_init(struct rtsp_client *c, const char *url) __attribute__((warn_unused_result));
void rtsp_client_fini(struct rtsp_client *c); /* works on a zeroed struct */

/* Writes a request for this URL (NULL: that of the location). To repeat a request, write it
 * again. */
void rtsp_client_put(struct rtsp_client *c, struct wr *w, enum rtsp_method method, const char *url,
                     const struct rtsp_extra *more, size_t n, const void *body, size_t size);
enum rtsp_result rtsp_client_response(struct rtsp_client *c, const struct rtsp_message *m);

/* Returns the base URL for the tracks of the description in this response; the caller frees it. Its
 * host is the one that was contacted. */
char *rtsp_client_base(const struct rtsp_client *c, const struct rtsp_message *answer);

/* Writes a keepalive, whose response needs no wait. Returns false if the server accepts none. */
bool rtsp_client_put_keepalive(struct rtsp_client *c, struct wr *w, const char *url);
int  rtsp_client_keepalive_interval(const struct rtsp_client *c); /* interval in seconds */

#endif
