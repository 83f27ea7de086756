/* SPDX-License-Identifier: MIT */
/* tunnel_io.h - struct io over two connections of HTTP: what is written goes down the GET's, what
 * is read came up by a POST with the same cookie, or by several, one after the other.
 *
 * The conversation has the GET's connection and this pipe over it, and goes with them to other
 * workers as over any pipe. A POST's connection keeps a coroutine of its own (tunnel_post.h), which
 * puts what came into the pipe's queue. Where a pipe is, a table of the process says, so a POST
 * that came to another worker follows: one mutex, taken when a tunnel begins, moves or ends and
 * while a POST looks for it.
 */
#ifndef SERVE_RTSP_TUNNEL_IO_H
#define SERVE_RTSP_TUNNEL_IO_H

#include "co/net/io.h"

#include <stddef.h>

#define RTSP_TUNNEL_TIME CO_SECONDS(10) /* from the GET to the first POST, or the other way round */

/* Over the GET's connection, which it takes over. ERR_DENIED: there is a tunnel with that cookie;
 * the connection is still the caller's. Reading gives ERR_RTSP when no POST comes, too. */
err_t rtsp_tunnel_open(struct io **out, struct io *down, const char *cookie)
    __attribute__((warn_unused_result));

enum { RTSP_TUNNEL_NOWHERE = -1, RTSP_TUNNEL_ON_ITS_WAY = -2 };

/* The worker that has the tunnel of that cookie, or one of these. */
int rtsp_tunnel_where(const char *cookie);

/* A POST's end of it. Its coroutine is woken, by co_unpark(), when there is room again, and when it
 * is out of the tunnel: that was closed or went to another worker, or another POST is in. */
struct rtsp_way_up {
    struct rtsp_tunnel_io *tunnel; /* NULL: it is in none */
    struct co *co;
    bool replaced;
};

/* Into the tunnel of that cookie, which is at this worker, in place of who was. */
void rtsp_way_up_join(struct rtsp_way_up *up, const char *cookie);
/* How many bytes it may put; it yields nowhere in between. */
size_t rtsp_way_up_room(const struct rtsp_way_up *up);
void rtsp_way_up_put(struct rtsp_way_up *up, const uint8_t *data, size_t size);
/* Out of it, if it is in one. `bad`: what it said is no base64, the tunnel ends by that. */
void rtsp_way_up_leave(struct rtsp_way_up *up, bool bad);

#endif
