/* SPDX-License-Identifier: MIT */
/* ws_io.h - struct io over WebSocket frames: server side of rtsp.onvif.org.
 *
 * Message boundaries have no meaning, in either direction. Each write becomes one message, or
 * several if it is large; pings are answered while reading.
 */
#ifndef PROTO_RTSP_WS_IO_H
#define PROTO_RTSP_WS_IO_H

#include "co/net/io.h"

#include <stddef.h>

/* Takes over a connection whose upgrade was accepted. Copies `rest`, the bytes that the peer sent
 * after its request. Reading can also return ERR_HTTP, ERR_TOO_LARGE, ERR_RTSP. */
struct io *rtsp_ws_open(struct io *below, const void *rest, size_t size);

#endif
