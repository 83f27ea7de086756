/* SPDX-License-Identifier: MIT */
/* quality.h - rates the path to a player by its reports and decides which frames the player gets:
 * the server cannot reduce a stream, but it can omit frames that no other frame needs. Pure. */
#ifndef SERVE_RTC_QUALITY_H
#define SERVE_RTC_QUALITY_H

#include "co/co.h"

enum rtc_quality_takes {
    RTC_QUALITY_ALL,
    RTC_QUALITY_NEEDED, /* without frames that no other frame needs */
    RTC_QUALITY_KEYS,   /* key frames only */
};

struct rtc_quality { /* zeroed at first */
    enum rtc_quality_takes takes;
    co_usec bad, good;  /* time since when; 0: it is not */
    co_usec least;      /* estimate of the round trip time without queues */
    co_usec hold;       /* how long the path must be good before more is sent */
    co_usec tried;      /* when more was last sent */
    co_usec since;      /* start of the current report interval; 0: none yet */
    uint32_t highest, lost; /* values at `since` */
};

/* Takes a report: highest sequence number and packets lost so far, and the round trip time (0:
 * unknown). Clients send reports at any rate; short ones are combined. */
enum rtc_quality_takes rtc_quality_input(struct rtc_quality *l, uint32_t highest, uint32_t lost,
                                        co_usec rtt, co_usec now);

/* Takes an interval of about a second: loss in 1/256 and round trip time. Returns what to send from
 * now on. */
enum rtc_quality_takes rtc_quality_report(struct rtc_quality *l, unsigned lost, co_usec rtt,
                                          co_usec now);
const char *rtc_quality_name(enum rtc_quality_takes takes); /* "all", "needed", "keys" */

#endif
