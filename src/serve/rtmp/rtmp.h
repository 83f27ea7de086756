/* SPDX-License-Identifier: MIT */
/* rtmp.h - serve one RTMP client: an encoder that publishes, or a player. */
#ifndef SERVE_RTMP_RTMP_H
#define SERVE_RTMP_RTMP_H

#include "session/env.h"
#include "session/peers.h"

struct rtmp_session; /* owned by its coroutine */
struct io_tls_server;

/* Take over an accepted descriptor; on error it is still the caller's. `proxied`: a header
 * of the PROXY protocol comes first. With `tls`, of which it takes a reference, a TLS handshake
 * is next. */
err_t rtmp_session_new(struct rtmp_session **out, struct session_env *env, int fd, bool proxied,
                       struct io_tls_server *tls)
    __attribute__((warn_unused_result));
/* Its place among the connections, given back at its end. */
struct peers_place *rtmp_session_place(struct rtmp_session *s);
/* For a session whose coroutine could not be started. */
void rtmp_session_free(struct rtmp_session *s);
/* co_fn: serve the client until it leaves, log why, free the session. Always returns NULL. */
err_t rtmp_session_main(void *session);
/* The same over any pipe, for tests: serves until the end and returns why it ended. */
err_t rtmp_session_run(struct session_env *env, struct io *io, const char *ip)
    __attribute__((warn_unused_result));

#endif
