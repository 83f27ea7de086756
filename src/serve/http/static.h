/* SPDX-License-Identifier: MIT */
/* static.h - files over HTTP: http_server.dir and http_static of a vhost. */
#ifndef SERVE_HTTP_STATIC_H
#define SERVE_HTTP_STATIC_H

#include "co/os/file.h"
#include "serve/http/http.h"

/* Mounts it at "/", so it is called last. */
void http_static_mount(struct http_mux *mux);

/* Finds the file that a request names: returns the folder and sets *path below it, beginning with
 * "/". */
const char *http_static_locate(const struct http_exchange *x, const char **path);

/* Returns true if part of the path begins with a dot, or ends in ".tmp" (a file that the server is
 * still writing). */
bool http_static_is_hidden(const char *path);

/* Sends the file at `path` below `folder`, or 404. `cache` is its Cache-Control; NULL: by its
 * extension, unless the response has one already. Yields. */
err_t http_static_serve(struct http_exchange *x, const char *folder, const char *path,
                        const char *cache) __attribute__((warn_unused_result));

#endif
