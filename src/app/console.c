/* SPDX-License-Identifier: MIT */
/* console.c - the page at /console/. */
#include "app/console.h"

#include "serve/http_mux.h"
#include "serve/http_static.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The page is ours alone: no other host's scripts, and what it shows of peers is never code. Media
 * comes from whatever port serves streams. */
#define POLICY "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " \
    "connect-src *; media-src * blob:; worker-src 'self' blob:; base-uri 'none'; " \
    "form-action 'self'; frame-ancestors 'none'"

/* A folder beside the program: ./objs/console, or where it was installed. malloc'ed, or NULL. */
static char *folder(const char *name)
{
    char exe[PATH_MAX], *slash, *path;
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

    exe[n > 0 ? n : 0] = '\0';
    slash = strrchr(exe, '/');
    if (!slash)
        return NULL;
    *slash = '\0';
    if (asprintf(&path, "%s/%s", exe, name) < 0)
        abort();
    return path;
}

static err_t answer(struct http_exchange *x, void *arg)
{
    const char *path = x->req->path + strlen("/console/");
    bool player = strncmp(path, "player/", 7) == 0;
    char *where = folder(player ? "player" : "console");
    err_t err;

    (void)arg;
    http_response_add(x->resp, "Content-Security-Policy", POLICY);
    http_response_add(x->resp, "X-Content-Type-Options", "nosniff");
    http_response_add(x->resp, "Referrer-Policy", "no-referrer");
    http_response_add(x->resp, "Cache-Control", "no-cache");
    err = where ? http_static_serve(x, where, player ? path + 7 : path)
                : http_response_status(x->resp, 404);
    free(where);
    return err;
}

static int port_of(bool on, const struct conf_endpoints *e)
{
    return on && e->n > 0 ? e->v[0].port : 0;
}

/* Where the page finds the API when it came by another port. */
static err_t answer_where(struct http_exchange *x, void *arg)
{
    const struct conf_http_api *api = &x->conf->http_api;
    char text[128];
    int n;

    (void)arg;
    http_response_add(x->resp, "Content-Type", "application/json");
    http_response_add(x->resp, "Cache-Control", "no-cache");
    n = snprintf(text, sizeof(text), "{\"here_is_api\":%s,\"api\":%d,\"api_tls\":%d}\n",
                 x->ports & HTTP_PORT_API ? "true" : "false", port_of(api->enabled, &api->listen),
                 port_of(api->enabled && api->https.enabled, &api->https.listen));
    return http_response_send(x->resp, 200, text, (size_t)n);
}

void console_mount(struct http_mux *mux)
{
    (void)http_mux_add(mux, &(struct http_mount){ .pattern = "/console/", .handler = answer,
                                                  .methods = 1u << HTTP_VERB_GET,
                                                  .ports = HTTP_PORT_ALL });
    (void)http_mux_add(mux, &(struct http_mount){ .pattern = "/console/where.json",
                                                  .handler = answer_where,
                                                  .methods = 1u << HTTP_VERB_GET,
                                                  .ports = HTTP_PORT_ALL });
}
