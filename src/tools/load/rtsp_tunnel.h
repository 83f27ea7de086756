/* SPDX-License-Identifier: MIT */
/* rtsp_tunnel.h - RTSP inside of HTTP, a client's side: a GET that brings what the server says, and
 * a POST that takes what we say to it, in base64. */
#ifndef TOOLS_LOAD_RTSP_TUNNEL_H
#define TOOLS_LOAD_RTSP_TUNNEL_H

#include "co/net/io.h"

/* *io is connected, and becomes the tunnel; `up` is another connection to the same server. On an
 * error both are closed, and *io is NULL. Yields. */
err_t load_tunnel_open(struct io **io, struct io *up, const char *host)
    __attribute__((warn_unused_result));

#endif
