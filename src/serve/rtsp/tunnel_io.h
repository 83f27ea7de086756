/* SPDX-License-Identifier: MIT */
/* tunnel_io.h - struct io over two HTTP connections: writes go to the GET's connection, reads come
 * from a POST with the same cookie, or from several POSTs one after the other.
 *
 * The session owns the GET's connection and the io over it, and moves to other workers with them as
 * with any io. The connection of a POST has its own coroutine (tunnel_post.h), which puts received
 * bytes into the queue of the tunnel. A table of the process holds the worker of each tunnel, so
 * that a POST that arrives at another worker can follow. Its mutex is taken when a tunnel opens,
 * moves or closes, and while a POST looks for it.
 */
#ifndef SERVE_RTSP_TUNNEL_IO_H
#define SERVE_RTSP_TUNNEL_IO_H

#include "co/net/io.h"

#include <stddef.h>

#define RTSP_TUNNEL_TIME CO_SECONDS(10) /* from the GET to the first POST, or the other way round */

/* Opens a tunnel over the GET's connection and takes ownership of it. ERR_DENIED: a tunnel with
 * that cookie exists; the caller still owns the connection. Reads return ERR_RTSP if no POST
 * arrives. */
err_t rtsp_tunnel_open(struct io **out, struct io *down, const char *cookie)
    __attribute__((warn_unused_result));

enum { RTSP_TUNNEL_NOT_FOUND = -1, RTSP_TUNNEL_MOVING = -2 };

/* Returns the worker of the tunnel with that cookie, or one of these. */
int rtsp_tunnel_where(const char *cookie);

/* The POST's end of a tunnel. co_unpark() wakes its coroutine when the queue has room again, and
 * when it was removed from the tunnel: because the tunnel closed or moved to another worker, or
 * because another POST replaced it. */
struct rtsp_upstream {
    struct rtsp_tunnel_io *tunnel; /* NULL: not joined */
    struct co *co;
    bool replaced;
};

/* Joins the tunnel of that cookie, which is on this worker, and replaces its current POST. */
void rtsp_upstream_join(struct rtsp_upstream *up, const char *cookie);
/* Number of bytes that may be put; valid until the next yield. */
size_t rtsp_upstream_room(const struct rtsp_upstream *up);
void rtsp_upstream_put(struct rtsp_upstream *up, const uint8_t *data, size_t size);
/* Leaves the tunnel, if it is in one. `bad`: the input was not valid base64, which ends the
 * tunnel. */
void rtsp_upstream_leave(struct rtsp_upstream *up, bool bad);

#endif
