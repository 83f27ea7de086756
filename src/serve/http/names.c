/* SPDX-License-Identifier: MIT */
/* names.c - the names of a stream that an HTTP client asks for. */
#include "serve/http/names.h"

#include "base/must.h"
#include "base/text.h"

#include <string.h>

/* All in one piece of memory, a '\0' behind each: app, stream, "?" and query, tcUrl,
 * page. It outlives the request. */
char *http_names_make(struct session_stream *out, const struct http_exchange *x,
                      const struct http_live_name *from)
{
    const char *page = http_request_field(x->req, "Referer");
    const char *host = http_request_field(x->req, "Host");
    char *memory = must_print("%.*s%c%.*s%c%s%s%chttp%s://%s/%.*s%c%s", (int)from->app_size,
                              from->app, '\0', (int)from->stream_size, from->stream, '\0',
                              *x->req->query ? "?" : "", x->req->query, '\0', x->tls ? "s" : "",
                              host ? host : x->vhost->name, (int)from->app_size, from->app, '\0',
                              text_or_empty(page));

    *out = (struct session_stream){ .vhost = x->vhost->name, .ip = x->ip, .app = memory };
    out->name = out->app + strlen(out->app) + 1;
    out->param = out->name + strlen(out->name) + 1;
    out->tc_url = out->param + strlen(out->param) + 1;
    out->page_url = out->tc_url + strlen(out->tc_url) + 1;
    return memory;
}
