/* SPDX-License-Identifier: MIT */
/* http_impl.h - what the requests of WHIP and of the JSON API have in common. */
#ifndef SERVE_RTC_HTTP_IMPL_H
#define SERVE_RTC_HTTP_IMPL_H

#include "serve/http/http.h"
#include "serve/rtc/request.h"

/* Of a body with the largest offer: escapes make its lines longer by two characters each. */
enum { RTC_JSON_MAX = SDP_OFFER_MAX + 24 * 1024 };

/* The body, to be freed; *over: it has more than `most` bytes, and nothing is given. Yields. */
err_t rtc_http_body(struct http_exchange *x, size_t most, char **out, size_t *size, bool *over)
    __attribute__((warn_unused_result));
/* The value of a key in the query, a copy to be freed; "" if it is not there. */
char *rtc_http_param(const struct http_exchange *x, const char *key);
/* What the request says beside its stream and its offer: who asks, and the query of section 1 of
 * our contract: eip, codecs, encrypt. */
void rtc_http_fill(const struct http_exchange *x, struct rtc_request *req);
/* Without asking anybody: the numbers and names are those that rtc_request_answer() gives. */
void rtc_http_refuse(struct rtc_request *req, int status, int code, const char *name,
                     const char *text);

/* Handlers of the mux, with where they are mounted; what is below that is not theirs. */
struct rtc_http_place {
    const char *path;
    http_handler *handler;
    enum rtc_request_kind kind; /* of a POST */
};
/* Is it that path, and is WebRTC on? Else x is declined: before anything of the body is read. */
bool rtc_http_serves(struct http_exchange *x, const struct rtc_http_place *place);
err_t rtc_http_json(struct http_exchange *x, void *place) __attribute__((warn_unused_result));
err_t rtc_http_whip(struct http_exchange *x, void *place) __attribute__((warn_unused_result));

#endif
