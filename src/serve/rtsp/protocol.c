/* SPDX-License-Identifier: MIT */
/* protocol.c - RTSP as a row. */
#include "serve/protocol.h"
#include "serve/rtsp/rtsp.h"

const struct protocol protocol_rtsp = {
    .id = PROTOCOL_RTSP, .accept = rtsp_accept, .tunnel = rtsp_tunnel_http,
};
