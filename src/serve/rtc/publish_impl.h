/* SPDX-License-Identifier: MIT */
/* publish_impl.h - what publishers of WebRTC have, for the files publish*.c alone. */
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
    bool started;           /* the rest is of what came */
    bool over;              /* it said BYE */
    uint32_t ssrc;
    co_usec first, heard;
    int64_t seq, time;      /* the newest, without wrap */
    int64_t shift;          /* from its sequence numbers to those that players' go by */
    bool jumped;
    uint16_t jump;          /* what comes after one that was far off */
    uint64_t seen[PUBLISH_SEEN / 64]; /* of the newest numbers: it came */
    struct rtp_stats stats;
    struct rtp_nack nack;
    bool has_sr;
    struct rtcp_sr sr;      /* the last one, and when that came */
    co_usec sr_at;
    co_usec key_at;         /* when the newest key frame began; 0: none did */
    int64_t key_time;
    uint8_t layer;          /* of simulcast, the one that is taken: a place in sdp->rids */
    bool taken;             /* by the intake, as its track: */
    unsigned number;
};

struct publish_source { /* an SSRC */
    uint32_t ssrc;
    co_usec heard;
    struct publish_track *track; /* NULL: it is left out */
    uint8_t layer;          /* of simulcast: a place in sdp->rids */
    bool repeats;           /* packets of that layer, nothing else */
    unsigned bytes, rate;   /* of a layer: since then; a second, 0: not known */
    co_usec since, asked;   /* asked: for a key frame */
};

struct rtc_publish {
    struct session_publisher publisher;
    char *param;             /* of its names, ours; and what it was */
    const char *asked_param;
    struct rtc_wire *wire;
    struct rtp_intake *intake; /* NULL: for WebRTC alone */
    struct publish_track tracks[SDP_TRACKS];
    unsigned n_sources;
    struct publish_source sources[PUBLISH_SOURCES];
    uint8_t twcc_id;         /* of the extension; 0: no such feedback */
    struct rtp_twcc twcc;
    co_usec rtt;             /* 0: not known */
    bool echoes;             /* it answers our reports: the round trip is known by that */
    struct co_timer timer;
    co_usec report_at;
    bool wants_key;          /* somebody does, and has not been heard */
    co_usec asked_key;       /* when the last PLI was sent; 0: none was */
    uint8_t firs;
    bool waits;              /* for a datagram of ours before each frame, it may be */
    uint64_t lost_told, found_told; /* as the service was */
    uint64_t plis, feedbacks, repeats, doubled, late, left_out;
};


/* ---- publish_reports.c */
/* What is asked for and told when nothing comes: by the timer. */
void publish_begin_reports(struct rtc_peer *p, co_usec now);
/* After a packet: the timer is due by then at the latest. */
void publish_due(struct rtc_peer *p, co_usec at);
/* How long a packet took that was asked for says something, too. */
void publish_learn(struct rtc_peer *p, struct publish_track *t);
/* After a whole frame. */
void publish_nod(struct rtc_peer *p);
void publish_send_twcc(struct rtc_peer *p, co_usec now);
/* A key frame, please: where none is under way, and at most once in a while. */
void publish_ask_key(struct rtc_peer *p, co_usec now);
/* The same of a layer that is not taken yet. */
void publish_ask_layer(struct rtc_peer *p, const struct publish_track *t, struct publish_source *s,
                       co_usec now);
/* Are packets of it that are missing asked for? */
bool publish_asks(const struct rtc_peer *p, const struct publish_track *t);
/* How long such a packet is waited for. */
co_usec publish_wait(const struct rtc_peer *p, const struct publish_track *t);
uint64_t publish_lost(const struct rtc_publish *pub);

/* ---- publish_layers.c */
/* Is it of the layer that is taken? It may be the one from that packet on. */
bool publish_is_layer(struct rtc_peer *p, struct publish_source *s, const struct rtp_packet *packet,
                      co_usec now);

#endif
