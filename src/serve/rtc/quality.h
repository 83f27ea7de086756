/* SPDX-License-Identifier: MIT */
/* quality.h - how good the line to a player is, by its reports, and what it takes of a stream: a
 * stream cannot be made smaller, but there are pictures that no other needs. Pure. */
#ifndef SERVE_RTC_QUALITY_H
#define SERVE_RTC_QUALITY_H

#include "co/co.h"

enum rtc_quality_takes {
    RTC_QUALITY_ALL,
    RTC_QUALITY_NEEDED, /* without pictures that no other needs */
    RTC_QUALITY_KEYS,   /* key frames alone */
};

struct rtc_quality { /* zeroed it has begun */
    enum rtc_quality_takes takes;
    co_usec bad, good;  /* since when it is; 0: it is not */
    co_usec least;      /* round trip of an empty line, about */
    co_usec hold;       /* so long it is to be good before it gets more */
    co_usec tried;      /* when it got more */
    co_usec since;      /* of the part of its reports that is looked at; 0: there was none */
    uint32_t highest, lost; /* as it was then */
};

/* A report: its highest number and how many are lost so far, and the round trip, 0: not known. They
 * come as often as clients like, with what is lost since the last one of a moment before. */
enum rtc_quality_takes rtc_quality_hear(struct rtc_quality *l, uint32_t highest, uint32_t lost,
                                        co_usec rtt, co_usec now);

/* About a second: of 256 packets so many were lost, and the round trip. What it takes from now
 * on. */
enum rtc_quality_takes rtc_quality_report(struct rtc_quality *l, unsigned lost, co_usec rtt,
                                          co_usec now);
const char *rtc_quality_name(enum rtc_quality_takes takes); /* "all", "needed", "keys" */

#endif
