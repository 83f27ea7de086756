/* SPDX-License-Identifier: MIT */
/* mux.h - finds the handler of a request.
 *
 * A mount is a pattern and a handler:
 *
 *     "/api/v1/versions"    only this path
 *     "*.flv"               paths with this extension
 *     "/players/"           everything below; "/players" gets a 302 to it
 *     "a.b/live/"           any of these (except "*") for one host
 *
 * Order: exact paths, then extensions, then folders; longer patterns first, and patterns of one
 * host before those of all hosts. When a handler declines, the next one is called. A handler of GET
 * also gets HEAD. Without a handler the response is 404, or 405 if only the method was wrong.
 *
 * Mounts may be added and removed at any time, also while a handler runs.
 */
#ifndef SERVE_HTTP_MUX_H
#define SERVE_HTTP_MUX_H

#include "serve/http/http.h"

struct http_mux;
struct http_entry; /* an added mount; owned by the mux */

#define HTTP_METHODS_ANY 0u
#define HTTP_METHODS_READ (1u << HTTP_VERB_GET | 1u << HTTP_VERB_HEAD)

struct http_mount {
    const char *pattern;
    unsigned methods;      /* 1u << enum http_verb ...; HTTP_METHODS_ANY */
    enum http_ports ports; /* the endpoints that serve it */
    bool first_worker;     /* served only by worker 0, which has the data */
    http_handler *handler;
    void *arg;
};

struct http_mux *http_mux_new(void);
void http_mux_free(struct http_mux *mux);

/* Adds a copy of the mount. Several mounts may have the same pattern: the oldest is called
 * first. */
struct http_entry *http_mux_add(struct http_mux *mux, const struct http_mount *mount);

/* Calls the handlers of the request. Yields. */
err_t http_mux_serve(struct http_mux *mux, struct http_exchange *x)
    __attribute__((warn_unused_result));

/* Sends a 302 to the same path with a slash at its end. Yields. */
err_t http_mux_to_slash(struct http_exchange *x) __attribute__((warn_unused_result));

#endif
