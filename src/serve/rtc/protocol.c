/* SPDX-License-Identifier: MIT */
/* protocol.c - WebRTC as a row. */
#include "serve/protocol.h"
#include "serve/rtc/http.h"
#include "serve/rtc/impl.h"

const struct protocol protocol_rtc = {
    .id = PROTOCOL_RTC, .accept = rtc_accept, .mount = rtc_http_mount,
    .datagrams = &rtc_protocol, .counters = &rtc_counters,
};
