/* SPDX-License-Identifier: MIT */
/* found.h - addresses of names and of our interfaces, kept for a while: for candidates.c. */
#ifndef SERVE_RTC_FOUND_H
#define SERVE_RTC_FOUND_H

#include "base/ip.h"
#include "co/net/dns.h"
#include "serve/rtc/impl.h"

enum {
    RTC_PLACE_MAX = sizeof(((struct sdp_candidate *)0)->ip), RTC_INTERFACES_MAX = 16,
};

/* Kept for 60 s; one that fails, for 5. None where it takes over 2 s, or too many are asked for at
 * a time. Yields. */
void rtc_found_name(struct rtc_service *s, const char *name, struct co_dns *out);
/* Those that are up: not the loopback, unless there is nothing else. Kept for 5 s. Does not
 * yield. */
unsigned rtc_found_interfaces(struct rtc_service *s, enum conf_ip_family family,
                              char out[RTC_INTERFACES_MAX][IP_TEXT]);

#endif
