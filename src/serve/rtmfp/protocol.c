/* SPDX-License-Identifier: MIT */
/* protocol.c - RTMFP as a row. */
#include "serve/protocol.h"
#include "serve/rtmfp/rtmfp.h"

const struct protocol protocol_rtmfp = {
    .id = PROTOCOL_RTMFP, .datagrams = &rtmfp_protocol, .counters = &rtmfp_counters,
};
