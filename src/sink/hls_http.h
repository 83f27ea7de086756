/* SPDX-License-Identifier: MIT */
/* hls_http.h - HLS over HTTP: what is in memory, blocking reloads, and sessions.
 *
 * Mounted before the static files, which serve what is on disk and not in memory.
 */
#ifndef SINK_HLS_HTTP_H
#define SINK_HLS_HTTP_H

#include "serve/http_mux.h"
#include "sink/hls.h"

void hls_http_mount(struct hls *h, struct http_mux *mux);

#endif
