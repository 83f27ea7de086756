/* SPDX-License-Identifier: MIT */
/* http.h - HLS and DASH over HTTP: files in memory, blocking reloads, sessions.
 *
 * Mounted before the static files, which serve files that are only on disk.
 */
#ifndef SERVE_HLS_HTTP_H
#define SERVE_HLS_HTTP_H

#include "serve/http/mux.h"
#include "sink/hls/hls.h"

void hls_http_mount(struct hls *h, struct http_mux *mux);

#endif
