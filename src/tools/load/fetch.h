/* SPDX-License-Identifier: MIT */
/* fetch.h - files over HTTP for the load tools: one connection that is kept, RFC 9112.
 *
 * Redirects are followed; a connection that the server closed between two requests is made again.
 */
#ifndef TOOLS_LOAD_FETCH_H
#define TOOLS_LOAD_FETCH_H

#include "proto/http/client.h"
#include "tools/load/run.h"

enum { LOAD_FETCH_URL = 2048 };

struct load_fetch {
    struct load_client *c;         /* its talk.io is the connection */
    char url[LOAD_FETCH_URL];      /* of the last answer, after redirects */
    char place[160];                /* where the connection goes: "http host port" */
    int status;                     /* of the last answer */
    bool media;                     /* count bodies as media of the client */
    bool kept;                      /* the connection had an answer, and stayed */
    bool begun;                     /* bytes of an answer came */
};

/* Connect a client over TCP or TLS: the `open` of a tool. */
err_t load_fetch_open(struct load_client *c, const struct load_url *url, const char *bind_ip,
                      co_usec timeout) __attribute__((warn_unused_result));
/* Of a client that load_fetch_open() connected to `url`. */
void load_fetch_init(struct load_fetch *f, struct load_client *c, const struct load_url *url);
/* Ask for a file of `max` bytes at most, to be freed; NULL: its body is not kept. Any status is an
 * answer. ERR_IO_*, ERR_HTTP, ERR_TOO_LARGE. ERR_IO_TIMEOUT also when the session is over. */
err_t load_fetch_get(struct load_fetch *f, const char *url, struct http_reply *out, size_t max)
    __attribute__((warn_unused_result));

#endif
