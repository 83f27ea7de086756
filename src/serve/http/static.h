/* SPDX-License-Identifier: MIT */
/* static.h - files over HTTP: http_server.dir, and http_static of a vhost. */
#ifndef SERVE_HTTP_STATIC_H
#define SERVE_HTTP_STATIC_H

#include "co/os/file.h"
#include "serve/http/http.h"

/* Mount it at "/": who is asked last. */
void http_static_mount(struct http_mux *mux);

/* Where the file is that a request asks for: a folder, and *path below it, from its "/" on. */
const char *http_static_place(const struct http_exchange *x, const char **path);

/* Has the path a part that is not for others to see? It begins with a dot, or ends in ".tmp", which
 * is what the server writes and has not finished. */
bool http_static_is_hidden(const char *path);

/* Answer with the file at `path` below `folder`, or 404. `cache`: the Cache-Control of a file that
 * is there; NULL: by what it ends in, unless the answer has one already. Yields. */
err_t http_static_serve(struct http_exchange *x, const char *folder, const char *path,
                        const char *cache) __attribute__((warn_unused_result));

#endif
