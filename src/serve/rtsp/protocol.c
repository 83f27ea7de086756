/* SPDX-License-Identifier: MIT */
/* protocol.c - the row of RTSP in the list of protocols. */
#include "serve/protocol.h"
#include "serve/rtsp/rtsp.h"

const struct protocol protocol_rtsp = {
    .id = PROTOCOL_RTSP, .accept = rtsp_accept, .tunnel = rtsp_tunnel_http,
};
