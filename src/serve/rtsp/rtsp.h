/* SPDX-License-Identifier: MIT */
/* rtsp.h - serve one RTSP client: a player, or a publisher. */
#ifndef SERVE_RTSP_RTSP_H
#define SERVE_RTSP_RTSP_H

#include "session/env.h"

struct http_exchange;
struct io;
struct address_slot;
struct protocol_accepted;

/* See struct protocol. */
err_t rtsp_accept(struct session_env *env, const struct protocol_accepted *guest,
                  struct address_slot *place) __attribute__((warn_unused_result));
/* An http_handler on the ports of HTTP: takes what begins a tunnel, of two connections or by
 * WebSocket, and declines all else. The connection goes on as RTSP, in a coroutine of its own. */
err_t rtsp_tunnel_http(struct http_exchange *x, void *unused) __attribute__((warn_unused_result));
/* Serve a client over any pipe, for tests, until the end; the pipe is closed. */
err_t rtsp_conn_run(struct session_env *env, struct io *io, const char *ip)
    __attribute__((warn_unused_result));

#endif
