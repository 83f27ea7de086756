/* SPDX-License-Identifier: MIT */
/* request.h - requests for WebRTC that come over HTTP, and their answers: between http*.c, which
 * know HTTP, and admit.c, which knows sessions. The session may be at another worker, so all here
 * is bytes and numbers of its own.
 */
#ifndef SERVE_RTC_REQUEST_H
#define SERVE_RTC_REQUEST_H

#include "proto/sdp/agree.h"
#include "session/session.h"

enum rtc_request_kind {
    RTC_REQUEST_PUBLISH, RTC_REQUEST_PLAY,                  /* of a new session */
    RTC_REQUEST_DELETE, RTC_REQUEST_RESTART, RTC_REQUEST_STATUS /* of one that there is */
};
enum { RTC_TOKEN = 16, RTC_ANSWER_MAX = 8000 }; /* the latter is a limit of clients */

struct rtc_request {
    enum rtc_request_kind kind;
    /* publish, play: copies, freed by rtc_request_free() */
    char *vhost, *app, *stream, *param; /* param "?..": for callbacks and tokens */
    char *tc_url, *page_url, *user_agent;
    char *ip;             /* of the client */
    char *bearer;         /* the token of Authorization: Bearer, or NULL */
    char *host;           /* of the request, without the port: API as candidate; "" */
    char *eip;            /* "ip[:port]", or "" */
    char *offer;
    size_t offer_size;
    enum av_codec vcodec, acodec; /* asked for; AV_CODEC_NONE: not */
    bool no_srtp, no_dtls;        /* asked for; refused unless it is allowed */
    bool no_rtx;                  /* clients of this API expect NACK without RTX */
    char ufrag[ICE_UFRAG_MAX + 1], pwd[ICE_PWD_MAX + 1]; /* of ours, asked for; "" */
    /* of a session that there is: by what Location says */
    char session[ICE_UFRAG_MAX + ICE_OURS_MAX + 2]; /* "ours:theirs" */
    char token[RTC_TOKEN + 1];
    struct sdp_fragment fragment; /* restart */
    char etag[24];                /* If-Match of it; "" */

    /* the answer */
    int status;           /* of HTTP: 201, 400 ..; of a restart 200, 204, 412 */
    int code;             /* the number and name of the error, as SRS has them */
    const char *code_name; /* static */
    char *text;           /* what is wrong, for a person; or NULL */
    char *answer;         /* description, fragment or, of its status, JSON; or NULL */
    size_t answer_size;
};
void rtc_request_free(struct rtc_request *a);

/* Have it answered, by whatever worker it is for. Yields for as long as callbacks take. */
void rtc_request_answer(struct session_env *env, struct rtc_request *a);

#endif
