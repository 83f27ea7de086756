/* SPDX-License-Identifier: MIT */
/* change.h - may this request change something, or only look?
 *
 * Who proved the password may. Where there is none, who asks from this machine may, or everybody
 * with `http_api { open on; }`. A page of another site in the operator's browser never may, though
 * it asks from his machine and the browser may add his password to what it asks.
 */
#ifndef APP_API_CHANGE_H
#define APP_API_CHANGE_H

#include "app/api/guard.h"
#include "serve/http/http.h"

/* Who asks, as far as it can be seen. */
enum api_origin {
    API_ORIGIN_NONE,  /* no page of a browser */
    API_ORIGIN_SAME,  /* a page that came from where the request goes */
    API_ORIGIN_OTHER, /* another one, or one that does not tell */
};

enum api_origin api_change_origin(const struct http_request *req);
/* False: refused, for that reason. */
bool api_change_allowed(const struct http_exchange *x, bool trusted, enum api_denial *why);
/* Answer so and tell what to do about it: 403. */
err_t api_change_refuse(struct api_guard *g, struct http_exchange *x, enum api_denial why)
    __attribute__((warn_unused_result));

#endif
