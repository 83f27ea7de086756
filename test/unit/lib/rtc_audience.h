/* SPDX-License-Identifier: MIT */
/* rtc_audience.h - a worker with a stream and its WebRTC players, whose packets are checked at once. */
#ifndef RTC_AUDIENCE_H
#define RTC_AUDIENCE_H

#include "env.h"
#include "live_media.h"
#include "rtc_line.h"
#include "rtp_media.h"
#include "serve/rtc/play.h"

#define AUDIENCE_CONF(rtc, rules) \
    "listen 1935; rtc_server { enabled on; listen 1; } vhost __defaultVhost__" \
    " { rtc { enabled on; rtmp_to_rtc on; " rtc " } " rules " }"

enum { KEPT = 4096, VIDEO_SSRC = 0x1111, AUDIO_SSRC = 0x2222, RTX_SSRC = 0x3333, VIDEO = 96,
       RTX = 97, AUDIO = 111, MOST = 100 };

struct heard_packet {
    size_t size;
    uint8_t *bytes;
};

struct rtc_ear {
    bool any;
    uint16_t first, last;
    uint32_t time, first_time;
    unsigned packets, frames, holes, doubles, back;
    struct heard_packet *kept; /* by number: the same one always has the same bytes */
};

struct rtc_listener {
    struct rtc_peer peer;
    struct rtc_line line;
    struct srtp_in *in;
    struct rtc_ear video, audio, rtx;
    unsigned bursts, reports, byes;
    uint32_t report_time[2];
    unsigned clocks;
    uint32_t clock;    /* its clock, from sender reports */
    uint8_t begin[16]; /* start of the first video packet's payload */
    bool has_extension;
    enum err_code left;
};

struct audience {
    struct session_env *env;
    struct rtc_service service;
    struct live_source *src;      /* while it is published */
    int64_t shown;                /* ms of it */
    struct rtc_listener *guests[MOST]; /* NULL: it has left */
    unsigned n_guests;
    unsigned wanted_keys;         /* requests to its publisher */
};
extern struct audience audience;

void audience_begin(const char *text);
void audience_end(void);
void audience_publish(void);
void audience_unpublish(void);
/* 25 frames a second; `each`: each n-th is a key frame. Does not wait in between. */
void audience_show(unsigned frames, unsigned each, size_t size);
/* All three. */
void audience_begin_show(const char *text, unsigned frames, unsigned each);

/* Its WebRTC publisher; `anew`: its video restarts as another source. */
struct rtc_peer *audience_publisher(bool anew);

struct rtc_listener *audience_come(bool rtx, enum srtp_profile profile);
void audience_leave(struct rtc_listener *g);
void audience_leave_all(void);
/* Runs pending work: tasks, and the timer of players with more to get. */
void audience_settle(void);
/* It reports these missing; it requests a key frame. */
void audience_nack(struct rtc_listener *g, uint32_t ssrc, uint16_t first, unsigned n);
void audience_pli(struct rtc_listener *g);

#endif
