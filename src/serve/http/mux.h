/* SPDX-License-Identifier: MIT */
/* mux.h - who answers a request.
 *
 * A mount is a pattern and a handler:
 *
 *     "/api/v1/versions"    that path alone
 *     "*.flv"               paths that end so
 *     "/players/"           everything below; "/players" is sent there by a 302
 *     "a.b/live/"           any of these (but "*") for one host
 *
 * A whole path comes before an end, an end before what is above; of those the longest, and one of
 * a host before one of all hosts. Who declines leaves it to the next. HEAD goes to
 * who answers GET. When nobody takes it, the answer is 404, or 405 if only the method was wrong.
 *
 * Mounts may come and go at any time, also while a handler runs.
 */
#ifndef SERVE_HTTP_MUX_H
#define SERVE_HTTP_MUX_H

#include "serve/http/http.h"

struct http_mux;
struct http_entry; /* a mount that was added; the mux's */

#define HTTP_METHODS_ANY 0u
#define HTTP_METHODS_READ (1u << HTTP_VERB_GET | 1u << HTTP_VERB_HEAD)

struct http_mount {
    const char *pattern;
    unsigned methods;      /* 1u << enum http_verb ...; HTTP_METHODS_ANY */
    enum http_ports ports; /* where it is to be found */
    bool first_worker;     /* answered by worker 0 alone, which has what it tells of */
    http_handler *handler;
    void *arg;
};

struct http_mux *http_mux_new(void);
void http_mux_free(struct http_mux *mux);

/* The mount is copied. Two of the same pattern may be there: the older one is asked first. */
struct http_entry *http_mux_add(struct http_mux *mux, const struct http_mount *mount);

/* Have the request answered. Yields. */
err_t http_mux_serve(struct http_mux *mux, struct http_exchange *x)
    __attribute__((warn_unused_result));

/* 302 to the same path with a slash behind it. Yields. */
err_t http_mux_to_slash(struct http_exchange *x) __attribute__((warn_unused_result));

#endif
