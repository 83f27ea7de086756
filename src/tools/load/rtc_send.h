/* SPDX-License-Identifier: MIT */
/* rtc_send.h - a publisher of sb_rtc_load: the frames of a file as packets of its own, and again
 * what the server misses. */
#ifndef TOOLS_LOAD_RTC_SEND_H
#define TOOLS_LOAD_RTC_SEND_H

#include "format/rtp/pack.h"
#include "proto/rtp/sender.h"
#include "tools/load/rtsp_source.h"
#include "tools/load/run.h"

struct load_rtc;

enum { LOAD_RTC_KEPT = 512, LOAD_RTC_MTU = 1200, LOAD_RTC_SENT = 1280,
       LOAD_RTC_VIDEO = 106, LOAD_RTC_AUDIO = 111 /* payload types that are offered */ };

struct load_rtc_kept { /* as it went */
    uint16_t seq, size;
    uint8_t data[LOAD_RTC_SENT];
};

struct load_rtc_out_track {
    struct rtp_sink sink; /* first: it is found by that */
    struct rtp_packer packer;
    struct rtp_sender numbers;
    bool open;
    uint64_t index;       /* of the next packet, rollovers and all */
    struct load_rtc_kept *kept;
};

struct load_rtc_send {
    const struct load_source *source;
    struct load_rtc_out_track tracks[LOAD_SOURCE_TRACKS];
    struct load_play play;
    const struct load_message *next;
    uint64_t next_time;   /* ms */
    co_usec from, report_due;
};

struct load_rtc_send *load_rtc_send_new(const struct load_source *source);
void load_rtc_send_free(struct load_rtc_send *s); /* NULL is fine */
co_usec load_rtc_send_due(const struct load_rtc *p);
void load_rtc_send_tick(struct load_rtc *p, co_usec now);
void load_rtc_send_rtcp(struct load_rtc *p, const uint8_t *data, size_t size);

#endif
