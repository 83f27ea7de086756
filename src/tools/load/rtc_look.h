/* SPDX-License-Identifier: MIT */
/* rtc_look.h - a player of sb_rtc_load looks at RTP: what is missing it asks for, and reports. */
#ifndef TOOLS_LOAD_RTC_LOOK_H
#define TOOLS_LOAD_RTC_LOOK_H

#include "proto/rtp/nack.h"
#include "proto/rtp/stats.h"
#include "tools/load/run.h"

struct load_rtc;

struct load_rtc_track {
    bool on, video;
    uint8_t type;
    enum av_codec codec;
    uint32_t clock;
    bool started;
    uint32_t ssrc;
    int64_t seq;          /* the highest */
    uint32_t time;        /* of the newest frame */
    bool key;             /* that one is a key frame */
    struct rtp_stats stats;
    struct rtp_nack nack;
    uint64_t given_up, found, asked; /* as they were counted last */
    uint32_t last_sr;
    co_usec sr_at;
};

struct load_rtc_look {
    uint32_t ssrc;        /* ours, in reports */
    co_usec report_due, pli_due;
    bool want_key;
    struct load_rtc_track tracks[2]; /* by enum av_kind */
};

void load_rtc_look_init(struct load_rtc_look *l);
void load_rtc_look_fini(struct load_rtc_look *l);
/* A packet or a compound that was authenticated. */
void load_rtc_look_rtp(struct load_rtc *p, const uint8_t *data, size_t size, co_usec now);
void load_rtc_look_rtcp(struct load_rtc *p, const uint8_t *data, size_t size, co_usec now);
co_usec load_rtc_look_due(const struct load_rtc *p);
void load_rtc_look_tick(struct load_rtc *p, co_usec now);

#endif
