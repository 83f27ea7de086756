/* SPDX-License-Identifier: MIT */
/* http.h - HTTP requests that create WebRTC sessions: /rtc/v1/{publish,play}/ with SRS's JSON, and
 * WHIP (RFC 9725) and WHEP at /rtc/v1/{whip,whep,whip-play}/. */
#ifndef SERVE_RTC_HTTP_H
#define SERVE_RTC_HTTP_H

#include "serve/http/mux.h"

/* Mounts all of them on both kinds of ports, each behind the handler `ask`. */
void rtc_http_mount(struct http_mux *mux, http_handler *ask, void *arg);

#endif
