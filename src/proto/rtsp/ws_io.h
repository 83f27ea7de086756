/* SPDX-License-Identifier: MIT */
/* ws_io.h - struct io over the frames of a WebSocket: a server's side of rtsp.onvif.org.
 *
 * Where messages are cut means nothing, either way. Each write is a message, or several where it is
 * large; pings are answered while it reads.
 */
#ifndef PROTO_RTSP_WS_IO_H
#define PROTO_RTSP_WS_IO_H

#include "co/net/io.h"

#include <stddef.h>

/* Over a connection whose upgrade was answered, which it takes over. `rest`: what the peer sent
 * behind its request; it is copied. Reading gives ERR_HTTP, ERR_TOO_LARGE, ERR_RTSP, too. */
struct io *rtsp_ws_open(struct io *below, const void *rest, size_t size);

#endif
