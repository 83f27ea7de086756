/* SPDX-License-Identifier: MIT */
/* change.h - may this request change something, or only look, or not even that?
 *
 * Without a password, who asks from a private network or from this machine may look. A public
 * address may not, unless `http_api { public read; }` or `open on;` says so: the default is safe on
 * the internet. Private are loopback, RFC 1918, fc00::/7 and link-local addresses. 100.64.0.0/10 is
 * public here: it is shared by all customers of a provider, who are strangers to each other.
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

/* Answer that it is denied, and why. */
err_t api_refuse(struct http_exchange *x, int status, const char *why)
    __attribute__((warn_unused_result));
/* May who proved no password look? By the address of the client, as trusted_proxies tell it. */
bool api_change_may_look(const struct http_exchange *x);
/* Say that it may not, and what to set: 401. */
err_t api_change_refuse_public(struct api_guard *g, struct http_exchange *x)
    __attribute__((warn_unused_result));
enum api_origin api_change_origin(const struct http_request *req);
/* False: refused, for that reason. */
bool api_change_allowed(const struct http_exchange *x, bool trusted, enum api_denial *why);
/* Answer so and tell what to do about it: 403. */
err_t api_change_refuse(struct api_guard *g, struct http_exchange *x, enum api_denial why)
    __attribute__((warn_unused_result));

#endif
