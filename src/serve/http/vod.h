/* SPDX-License-Identifier: MIT */
/* vod.h - files on demand over HTTP and WebSocket, as FLV: /vod/dir/a.mp4.flv.
 *
 * `?start=` and `end=` are seconds of the file. To seek, a player sends a new request.
 */
#ifndef SERVE_HTTP_VOD_H
#define SERVE_HTTP_VOD_H

#include "serve/http/http.h"

/* Mounts it before live streams and static files. The handler declines paths that are not files of
 * a vhost's vod. */
void http_vod_mount(struct http_mux *mux);

#endif
