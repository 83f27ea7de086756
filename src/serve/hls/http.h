/* SPDX-License-Identifier: MIT */
/* http.h - HLS over HTTP: what is in memory, blocking reloads, and sessions.
 *
 * Mounted before the static files, which serve what is on disk and not in memory.
 */
#ifndef SERVE_HLS_HTTP_H
#define SERVE_HLS_HTTP_H

#include "serve/http/mux.h"
#include "sink/hls/hls.h"

void hls_http_mount(struct hls *h, struct http_mux *mux);

#endif
