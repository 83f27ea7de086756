/* SPDX-License-Identifier: MIT */
/* tunnel_post.h - the connection of a POST: the upstream half of a tunnel.
 *
 * Its body is base64 of unlimited length, regardless of its Content-Length, and gets no response.
 * It is decoded into the tunnel with its cookie, on the worker of that tunnel, and follows it to
 * other workers.
 */
#ifndef SERVE_RTSP_TUNNEL_POST_H
#define SERVE_RTSP_TUNNEL_POST_H

#include "session/env.h"
#include "session/address_limits.h"

struct io;
struct rtsp_post; /* owned by its coroutine */

/* Takes ownership of the connection and counts it. `rest`: bytes that came behind the head;
 * copied. */
struct rtsp_post *rtsp_post_new(struct session_env *env, struct io *io, const char *cookie,
                                const void *rest, size_t size);
struct address_slot *rtsp_post_slot(struct rtsp_post *p);
void rtsp_post_free(struct rtsp_post *p); /* if its coroutine could not be started */
/* co_fn: runs until the tunnel or the connection ends, logs the reason and frees it. Always returns
 * NULL. */
err_t rtsp_post_main(void *post);

#endif
