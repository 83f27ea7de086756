/* SPDX-License-Identifier: MIT */
/* rtc_publisher.h - a WebRTC publisher without a network: its packets, their output, requests to it. */
#ifndef RTC_PUBLISHER_H
#define RTC_PUBLISHER_H

#include "proto/rtp/extensions.h"
#include "rtc_audience.h"
#include "serve/rtc/publish_impl.h"

#define SETS "\x18\x00\x0e\x67\x42\xc0\x1f\x8c\x8d\x40\x50\x1e\xd0\x0f\x08\x84\x6a\x00\x04\x68" \
             "\xce\x3c\x80"

enum { SOUND = AUDIO, V_SSRC = 1000, R_SSRC = 1001, A_SSRC = 2000,
       MID = 1, TWCC = 2, RID = 3, RRID = 4, LEVEL = 5, PUT_MAX = 4096 };

struct publisher {
    struct datagram_stream *stream;
    struct {             /* packets in the log of its wire */
        uint64_t place;
        unsigned n;
        struct rtp_log_entry v[PUT_MAX]; /* except for what they point to */
        uint8_t last_ext[RTP_LOG_EXT_MAX];
    } wire;
    struct rtc_peer *p;
    struct rtc_line line;
    co_usec now;
    /* packets to the publisher */
    unsigned nacks, plis, firs, twccs, reports, rembs, rrtrs;
    uint16_t asked;         /* the last number of a NACK */
    uint64_t remb;
    struct rtcp_block block[2];
    uint64_t ntp;
};
extern struct publisher publisher;

struct publisher_packet {
    uint32_t ssrc;
    uint8_t type;
    int seq;
    uint32_t time;
    bool marker;
    const char *payload;
    size_t size;
    struct rtp_ext ext[3];
    unsigned n_ext;
};

/* It publishes, with this configuration of `rtc`, and this change of the negotiation. */
void publisher_begin_by(const char *rtc, void (*change)(struct sdp_agreed *a));
void publisher_begin(const char *rtc);
void publisher_end(void);
/* Advances the clock, and timers with it. */
void publisher_pass(int ms);

void publisher_put(const struct publisher_packet *in);
void publisher_put_sets(int seq, int picture);
void publisher_put_key(int seq, int picture);
void publisher_put_slice(int seq, int picture);
void publisher_put_audio(int seq);
void publisher_put_repeat(int of, int picture);
/* Counters of the source so far. */
uint64_t publisher_frames(void);

#endif
