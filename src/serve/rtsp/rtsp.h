/* SPDX-License-Identifier: MIT */
/* rtsp.h - serves one RTSP client: a player or a publisher. */
#ifndef SERVE_RTSP_RTSP_H
#define SERVE_RTSP_RTSP_H

#include "session/env.h"

struct http_exchange;
struct io;
struct address_slot;
struct protocol_accepted;

/* Implements accept() of struct protocol. */
err_t rtsp_accept(struct session_env *env, const struct protocol_accepted *accepted,
                  struct address_slot *slot) __attribute__((warn_unused_result));
/* An http_handler for the HTTP ports: takes requests that open a tunnel, over two connections or a
 * WebSocket, and declines all others. The connection continues as RTSP, in its own coroutine. */
err_t rtsp_tunnel_http(struct http_exchange *x, void *unused) __attribute__((warn_unused_result));
/* Serves a client over any io until it ends, and closes the io. For tests. */
err_t rtsp_conn_run(struct session_env *env, struct io *io, const char *ip)
    __attribute__((warn_unused_result));

#endif
