/* SPDX-License-Identifier: MIT */
/* tunnel.h - RTSP inside of HTTP, on the ports of HTTP. Those that come to RTSP's own port begin in
 * rtsp_conn_tunnel() (conn.h). */
#ifndef SERVE_RTSP_TUNNEL_H
#define SERVE_RTSP_TUNNEL_H

#include "serve/http/http.h"

/* An http_handler: takes what begins a tunnel, of two connections or by WebSocket, and declines all
 * else. The connection goes on as one of RTSP, in a coroutine of its own. */
err_t rtsp_tunnel_http(struct http_exchange *x, void *unused) __attribute__((warn_unused_result));

#endif
