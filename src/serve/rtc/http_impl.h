/* SPDX-License-Identifier: MIT */
/* http_impl.h - helpers shared by WHIP and the JSON API. */
#ifndef SERVE_RTC_HTTP_IMPL_H
#define SERVE_RTC_HTTP_IMPL_H

#include "serve/http/http.h"
#include "serve/rtc/request.h"

/* Largest JSON body: escaping adds two characters to each line of the largest offer. */
enum { RTC_JSON_MAX = SDP_OFFER_MAX + 24 * 1024 };

/* Reads the body; the caller frees it. Sets *over and returns no body if it exceeds `most` bytes.
 * Yields. */
err_t rtc_http_body(struct http_exchange *x, size_t most, char **out, size_t *size, bool *over)
    __attribute__((warn_unused_result));
/* Returns a copy of a query parameter, "" if absent; the caller frees it. */
char *rtc_http_param(const struct http_exchange *x, const char *key);
/* Fills in everything but stream and offer: client, and the query parameters eip, codecs,
 * encrypt. */
void rtc_http_fill(const struct http_exchange *x, struct rtc_request *req);
/* Refuses the request without running it, with the same numbers and names that rtc_request_answer()
 * uses. */
void rtc_http_refuse(struct rtc_request *req, int status, int code, const char *name,
                     const char *text);

/* Handlers of the mux and their mount points; paths below a mount point are not theirs. */
struct rtc_http_place {
    const char *path;
    http_handler *handler;
    enum rtc_request_kind kind; /* kind of a POST */
};
/* Returns true if the path matches and WebRTC is on. Otherwise declines x before any of the body is
 * read. */
bool rtc_http_serves(struct http_exchange *x, const struct rtc_http_place *place);
err_t rtc_http_json(struct http_exchange *x, void *place) __attribute__((warn_unused_result));
err_t rtc_http_whip(struct http_exchange *x, void *place) __attribute__((warn_unused_result));

#endif
