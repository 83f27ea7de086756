/* SPDX-License-Identifier: MIT */
/* request.h - WebRTC requests that arrive over HTTP, and their answers: the interface between
 * http*.c, which handle HTTP, and admit.c, which handles sessions. The session may be at another
 * worker, so everything here is plain bytes and numbers with their own memory. */
#ifndef SERVE_RTC_REQUEST_H
#define SERVE_RTC_REQUEST_H

#include "proto/sdp/agree.h"
#include "session/session.h"

enum rtc_request_kind {
    RTC_REQUEST_PUBLISH, RTC_REQUEST_PLAY,                  /* create a session */
    RTC_REQUEST_DELETE, RTC_REQUEST_RESTART, RTC_REQUEST_STATUS /* for an existing session */
};
enum { RTC_TOKEN = 16, RTC_ANSWER_MAX = 8000 }; /* the latter limits what clients may send */

struct rtc_request {
    enum rtc_request_kind kind;
    /* publish, play: copies, freed by rtc_request_free(). param "?..": for callbacks and tokens */
    char *vhost, *app, *stream, *param;
    char *tc_url, *page_url, *user_agent;
    char *ip;             /* address of the client */
    char *bearer;         /* the token of Authorization: Bearer, or NULL */
    char *host;           /* Host of the request, without the port: the API may offer it as a
                           * candidate; "" */
    char *eip;            /* "ip[:port]", or "" */
    char *offer;
    size_t offer_size;
    enum av_codec vcodec, acodec; /* requested; AV_CODEC_NONE: any */
    bool no_srtp, no_dtls;        /* requested; refused unless allowed */
    bool no_rtx;                  /* clients of this API expect NACK without RTX */
    char ufrag[ICE_UFRAG_MAX + 1], pwd[ICE_PWD_MAX + 1]; /* our requested credentials; "" */
    /* existing session, from Location: "ours:theirs" */
    char session[ICE_UFRAG_MAX + ICE_OURS_MAX + 2];
    char token[RTC_TOKEN + 1];
    struct sdp_fragment fragment; /* for a restart */
    char etag[24];                /* If-Match of the restart; "" */

    /* HTTP status of the answer: 201, 400 ..; for a restart 200, 204, 412 */
    int status;
    int code;             /* number and name of the error, as in SRS */
    const char *code_name; /* static string */
    char *text;           /* error text for people; or NULL */
    char *answer;         /* SDP, fragment, or JSON of the status; or NULL */
    size_t answer_size;
};
void rtc_request_free(struct rtc_request *a);

/* Answers the request at the worker that is responsible. Yields while callbacks run. */
void rtc_request_answer(struct session_env *env, struct rtc_request *a);

#endif
