/* SPDX-License-Identifier: MIT */
/* names.c - the names of a stream that an HTTP client asks for. */
#include "serve/http/names.h"

#include "base/must.h"

#include <stdlib.h>
#include <string.h>

/* All in one piece of memory, a '\0' behind each: app, stream, "?" and query, tcUrl,
 * page. It outlives the request. */
void http_names_make(struct http_names *n, const struct http_exchange *x,
                     const struct http_live_name *from)
{
    const char *page = http_request_field(x->req, "Referer");
    const char *host = http_request_field(x->req, "Host");
    const char *at;

    n->memory = must_print("%.*s%c%.*s%c%s%s%chttp%s://%s/%.*s%c%s", (int)from->app_size, from->app,
                           '\0', (int)from->stream_size, from->stream, '\0',
                           *x->req->query ? "?" : "", x->req->query, '\0', x->tls ? "s" : "",
                           host ? host : x->vhost->name, (int)from->app_size, from->app, '\0',
                           page ? page : "");
    n->of = (struct session_stream){ .vhost = x->vhost->name, .ip = x->ip };
    at = n->of.app = n->memory;
    at = n->of.name = at + strlen(at) + 1;
    at = n->of.param = at + strlen(at) + 1;
    at = n->of.tc_url = at + strlen(at) + 1;
    n->of.page_url = at + strlen(at) + 1;
}

void http_names_free(struct http_names *n)
{
    free(n->memory);
}

struct live_source *http_names_source(const struct http_names *n, const struct http_exchange *x)
{
    struct live_settings set = session_live_settings(x->conf, x->vhost);
    struct live_source *src;
    char *name = must_print("%s/%s/%s", n->of.vhost, n->of.app, n->of.name);

    src = live_registry_get(x->env->streams, name, &set);
    free(name);
    return src;
}
