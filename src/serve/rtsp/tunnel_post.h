/* SPDX-License-Identifier: MIT */
/* tunnel_post.h - the connection of a POST: the way up of a tunnel, for its whole life.
 *
 * What comes is base64 without end, whatever its Content-Length said; it is never answered. It is
 * decoded into the tunnel with its cookie, at the worker where that is, and follows it to others.
 */
#ifndef SERVE_RTSP_TUNNEL_POST_H
#define SERVE_RTSP_TUNNEL_POST_H

#include "session/env.h"
#include "session/address_limits.h"

struct io;
struct rtsp_post; /* owned by its coroutine */

/* Takes the connection over, and counts as one. `rest`: what came behind the head; it is copied. */
struct rtsp_post *rtsp_post_new(struct session_env *env, struct io *io, const char *cookie,
                                const void *rest, size_t size);
struct address_slot *rtsp_post_place(struct rtsp_post *p);
void rtsp_post_free(struct rtsp_post *p); /* one whose coroutine could not be started */
/* co_fn: until the tunnel or the connection ends; log why, free. Always returns NULL. */
err_t rtsp_post_main(void *post);

#endif
