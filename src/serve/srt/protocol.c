/* SPDX-License-Identifier: MIT */
/* protocol.c - SRT as a row. */
#include "serve/protocol.h"
#include "serve/srt/srt.h"

const struct protocol protocol_srt = {
    .id = PROTOCOL_SRT, .datagrams = &srt_protocol, .counters = &srt_counters,
};
