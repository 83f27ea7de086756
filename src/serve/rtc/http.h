/* SPDX-License-Identifier: MIT */
/* http.h - the requests by which WebRTC clients come in: /rtc/v1/{publish,play}/ as SRS has them in
 * JSON, and WHIP (RFC 9725) and WHEP at /rtc/v1/{whip,whep,whip-play}/. */
#ifndef SERVE_RTC_HTTP_H
#define SERVE_RTC_HTTP_H

#include "serve/http/mux.h"

/* Mount all of them, on both kinds of ports, each behind `ask`. */
void rtc_http_mount(struct http_mux *mux, http_handler *ask, void *arg);

#endif
