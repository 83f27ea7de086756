/* SPDX-License-Identifier: MIT */
/* rtc_send.h - a publisher of sb_rtc_load: the frames of a file as packets of its own, and again
 * what the server misses. */
#ifndef TOOLS_LOAD_RTC_SEND_H
#define TOOLS_LOAD_RTC_SEND_H

#include "tools/load/rtp_out.h"
#include "tools/load/run.h"

struct load_rtc;

enum { LOAD_RTC_KEPT = 512, LOAD_RTC_MTU = 1200, LOAD_RTC_SENT = 1280 };

struct load_rtc_kept { /* as it went */
    uint16_t seq, size;
    uint8_t data[LOAD_RTC_SENT];
};

struct load_rtc_send {
    struct load_out out;
    struct load_rtc_sent {
        uint64_t index;   /* of the next packet, rollovers and all */
        struct load_rtc_kept *kept;
    } sent[LOAD_TRACKS]; /* of each track */
    struct load_play play; /* of `media` NULL: it has not begun */
    co_usec report_due;
};

struct load_rtc_send *load_rtc_send_new(const struct load_media *source);
void load_rtc_send_free(struct load_rtc_send *s); /* NULL is fine */
co_usec load_rtc_send_due(const struct load_rtc *p);
void load_rtc_send_tick(struct load_rtc *p, co_usec now);
void load_rtc_send_rtcp(struct load_rtc *p, const uint8_t *data, size_t size);

#endif
