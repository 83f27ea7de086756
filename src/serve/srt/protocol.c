/* SPDX-License-Identifier: MIT */
/* protocol.c - the protocol row of SRT. */
#include "serve/protocol.h"
#include "serve/srt/srt.h"

const struct protocol protocol_srt = {
    .id = PROTOCOL_SRT, .datagrams = &srt_protocol, .counters = &srt_counters,
};
