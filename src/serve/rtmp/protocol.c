/* SPDX-License-Identifier: MIT */
/* protocol.c - the row of RTMP in the list of protocols. */
#include "serve/protocol.h"
#include "serve/rtmp/rtmp.h"

const struct protocol protocol_rtmp = {
    .id = PROTOCOL_RTMP, .accept = rtmp_accept,
};
