/* SPDX-License-Identifier: MIT */
/* names.h - the names of a stream that an HTTP client asks for, as all protocols tell them. */
#ifndef SERVE_HTTP_NAMES_H
#define SERVE_HTTP_NAMES_H

#include "serve/http/live.h"

/* x->vhost is there. Valid as long as the exchange, and what is given to free(). */
char *http_names_make(struct session_stream *out, const struct http_exchange *x,
                      const struct http_live_name *from);

#endif
