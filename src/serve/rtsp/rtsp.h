/* SPDX-License-Identifier: MIT */
/* rtsp.h - serve one RTSP client: a player, or a publisher. */
#ifndef SERVE_RTSP_RTSP_H
#define SERVE_RTSP_RTSP_H

#include "session/env.h"

struct io;
struct io_tls_server;
struct peers_place;
struct rtsp_conn; /* owned by its coroutine */

/* Take over an accepted descriptor; on error it is still the caller's. `tls`: its handshake comes
 * first (a reference is taken); NULL: there is none. */
err_t rtsp_conn_new(struct rtsp_conn **out, struct session_env *env, int fd, bool proxied,
                    struct io_tls_server *tls) __attribute__((warn_unused_result));
/* Its place among the connections of its address. */
struct peers_place *rtsp_conn_place(struct rtsp_conn *c);
void rtsp_conn_free(struct rtsp_conn *c);
/* co_fn: serve until the end, log why, free. Always returns NULL. */
err_t rtsp_conn_main(void *conn);
/* The same over any pipe, for tests; the pipe is closed. */
err_t rtsp_conn_run(struct session_env *env, struct io *io, const char *ip)
    __attribute__((warn_unused_result));

#endif
