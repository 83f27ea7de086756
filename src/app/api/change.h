/* SPDX-License-Identifier: MIT */
/* change.h - permissions of a request: change, read or none.
 *
 * Without a password, clients on private networks and on this machine may read. Public addresses
 * may not, unless `http_api { public read; }` or `open on;` allows it, so the default is safe on
 * the internet. Private addresses are loopback, RFC 1918, fc00::/7 and link-local. 100.64.0.0/10
 * counts as public, because all customers of a provider share it.
 *
 * A client with the password may change things. If there is no password, clients on this machine
 * may, or all clients with `http_api { open on; }`. A page of another site in the operator's
 * browser never may, although it sends requests from the operator's machine and the browser may add
 * the operator's password.
 */
#ifndef APP_API_CHANGE_H
#define APP_API_CHANGE_H

#include "app/api/guard.h"
#include "serve/http/http.h"

/* The origin of a request, as far as its headers show it. */
enum api_origin {
    API_ORIGIN_NONE,  /* not from a page in a browser */
    API_ORIGIN_SAME,  /* from a page of this server */
    API_ORIGIN_OTHER, /* from another page, or unknown */
};

/* Responds that the request is denied, with the reason. */
err_t api_refuse(struct http_exchange *x, int status, const char *why)
    __attribute__((warn_unused_result));
/* Returns true if a client without a password may read, by its address (as sent by
 * trusted_proxies). */
bool api_change_may_read(const struct http_exchange *x);
/* Responds with 401 and says what to configure. */
err_t api_change_refuse_public(struct api_guard *g, struct http_exchange *x)
    __attribute__((warn_unused_result));
enum api_origin api_change_origin(const struct http_request *req);
/* Returns false and the reason if the request may not change anything. */
bool api_change_allowed(const struct http_exchange *x, bool trusted, enum api_denial *why);
/* Responds with 403 and says what to configure. */
err_t api_change_refuse(struct api_guard *g, struct http_exchange *x, enum api_denial why)
    __attribute__((warn_unused_result));

#endif
