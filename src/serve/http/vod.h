/* SPDX-License-Identifier: MIT */
/* vod.h - files on demand over HTTP and WebSocket, as FLV: /vod/dir/a.mp4.flv.
 *
 * `?start=` and `end=` are seconds of the file. A player that seeks asks anew.
 */
#ifndef SERVE_HTTP_VOD_H
#define SERVE_HTTP_VOD_H

#include "serve/http/http.h"

/* Before live streams and files as they are. The handler declines what is no file of a vhost's
 * vod. */
void http_vod_mount(struct http_mux *mux);

#endif
