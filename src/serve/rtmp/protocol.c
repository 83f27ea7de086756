/* SPDX-License-Identifier: MIT */
/* protocol.c - RTMP as a row. */
#include "serve/protocol.h"
#include "serve/rtmp/rtmp.h"

const struct protocol protocol_rtmp = {
    .id = PROTOCOL_RTMP, .accept = rtmp_accept,
};
