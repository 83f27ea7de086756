/* SPDX-License-Identifier: MIT */
/* names.h - the names of a stream that an HTTP client asks for, as all protocols tell them. */
#ifndef SERVE_HTTP_NAMES_H
#define SERVE_HTTP_NAMES_H

#include "serve/http/live.h"

struct http_names {
    struct session_stream of; /* its strings: these, and those of the exchange */
    char *memory;
};

/* x->vhost is there. Valid as long as the exchange. */
void http_names_make(struct http_names *n, const struct http_exchange *x,
                     const struct http_live_name *from);
void http_names_free(struct http_names *n);
/* "vhost/app/stream" of the server's streams, made if there is none; with a reference. */
struct live_source *http_names_source(const struct http_names *n, const struct http_exchange *x);

#endif
