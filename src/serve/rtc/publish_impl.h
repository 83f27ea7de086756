/* SPDX-License-Identifier: MIT */
/* publish_impl.h - state of WebRTC publishers; private to publish*.c. */
#ifndef SERVE_RTC_PUBLISH_IMPL_H
#define SERVE_RTC_PUBLISH_IMPL_H

#include "intake/rtp.h"
#include "proto/rtp/nack.h"
#include "proto/rtp/rtcp.h"
#include "proto/rtp/stats.h"
#include "proto/rtp/twcc.h"
#include "serve/rtc/impl.h"

enum { PUBLISH_SOURCES = 8, PUBLISH_SEEN = 1024 };

struct publish_track {
    const struct sdp_track *sdp;
    enum av_kind kind;
    bool started;           /* true once a packet arrived; the rest is valid then */
    bool over;              /* the peer sent BYE */
    uint32_t ssrc;
    co_usec first, received_at;
    int64_t seq, time;      /* newest, without wrap */
    int64_t shift;          /* offset from its sequence numbers to those of the players */
    bool jumped;
    uint16_t jump;          /* sequence number expected after a large jump */
    uint64_t seen[PUBLISH_SEEN / 64]; /* bitmap: which of the newest numbers arrived */
    struct rtp_stats stats;
    struct rtp_nack nack;
    bool has_sr;
    struct rtcp_sr sr;      /* the last sender report and its arrival time */
    co_usec sr_at;
    co_usec key_at;         /* start of the newest key frame; 0: none yet */
    int64_t key_time;
    uint8_t layer;          /* simulcast layer in use: index into sdp->rids */
    bool taken;             /* the intake took it, as its track: */
    unsigned number;
};

struct publish_source { /* state of one SSRC */
    uint32_t ssrc;
    co_usec received_at;
    struct publish_track *track; /* NULL: dropped */
    uint8_t layer;          /* simulcast layer: index into sdp->rids */
    bool is_rtx;           /* carries only retransmits of that layer */
    unsigned bytes, rate;   /* bytes since `since`; per second, 0: unknown */
    co_usec since, asked;   /* asked: last key frame request */
};

struct rtc_publish {
    struct session_publisher publisher;
    char *param;             /* own copy of a parameter; the previous one */
    const char *asked_param;
    struct rtc_wire *wire;
    struct rtp_intake *intake; /* NULL: only WebRTC players */
    struct publish_track tracks[SDP_TRACKS];
    unsigned n_sources;
    struct publish_source sources[PUBLISH_SOURCES];
    uint8_t twcc_id;         /* id of the extension; 0: no transport-wide feedback */
    struct rtp_twcc twcc;
    co_usec rtt;             /* 0: unknown */
    bool echoes;             /* it answers our reports, which gives the round trip time */
    struct co_timer timer;
    co_usec report_at;
    bool key_pending;          /* a player requested a key frame that was not requested yet */
    co_usec asked_key;       /* time of the last PLI; 0: none */
    uint8_t firs;
    bool waits;              /* may wait for a datagram of ours before each frame */
    uint64_t lost_reported, recovered_reported; /* values last reported to the service */
    uint64_t plis, feedbacks, is_rtx, doubled, late, left_out;
};


/* ---- publish_reports.c */
/* Sends due requests and reports by timer, when no packet arrives. */
void publish_begin_reports(struct rtc_peer *p, co_usec now);
/* After a packet: makes the timer expire at `at` or earlier. */
void publish_due(struct rtc_peer *p, co_usec at);
/* Learns from how long a retransmitted packet took. */
void publish_learn(struct rtc_peer *p, struct publish_track *t);
/* Called after a complete frame. */
void publish_answer_frame(struct rtc_peer *p);
void publish_send_twcc(struct rtc_peer *p, co_usec now);
/* Requests a key frame, unless one is arriving or was requested a moment ago. */
void publish_request_key(struct rtc_peer *p, co_usec now);
/* Requests a key frame of a layer that is not in use yet. */
void publish_request_layer_key(struct rtc_peer *p, const struct publish_track *t,
                               struct publish_source *s, co_usec now);
/* Returns true if missing packets of this track are requested again. */
bool publish_requests_missing(const struct rtc_peer *p, const struct publish_track *t);
/* Returns how long to wait for a retransmitted packet. */
co_usec publish_wait(const struct rtc_peer *p, const struct publish_track *t);
uint64_t publish_lost(const struct rtc_publish *pub);

/* ---- publish_layers.c */
/* Returns true if the packet belongs to the layer in use. May switch the layer at this packet. */
bool publish_is_layer(struct rtc_peer *p, struct publish_source *s, const struct rtp_packet *packet,
                      co_usec now);

#endif
