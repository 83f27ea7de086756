/* SPDX-License-Identifier: MIT */
/* rtc_peer.h - one client of sb_rtc_load: its offer by HTTP, a socket of its own, full ICE, DTLS,
 * SRTP, and what its packets are.
 */
#ifndef TOOLS_LOAD_RTC_PEER_H
#define TOOLS_LOAD_RTC_PEER_H

#include "proto/dtls/dtls.h"
#include "proto/rtp/nack.h"
#include "proto/rtp/stats.h"
#include "proto/sdp/agree.h"
#include "proto/srtp/srtp.h"
#include "tools/load/link.h"
#include "tools/load/rtp_out.h"
#include "tools/load/run.h"

struct load_rtc;

/* ---- rtc_look.c: a player looks at RTP; what is missing it asks for, and reports */

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

/* ---- rtc_send.c: a publisher sends the frames of a file as packets of its own, and again what the
 * server misses */

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

/* ---- rtc_peer.c */

enum { LOAD_RTC_PACKET = LOAD_DATAGRAM };

struct load_rtc {
    struct load_client *c;
    struct load_socket socket;
    struct udp_path path;
    bool checked, connected, rebound;
    err_t err;                        /* found while something came */
    /* ICE */
    char ufrag[ICE_UFRAG + 1], pwd[ICE_PWD + 1], peer_pwd[ICE_PWD_MAX + 1];
    char username[ICE_UFRAG_MAX + ICE_UFRAG + 2]; /* "theirs:ours" */
    uint8_t check[STUN_ID];
    uint64_t tie;
    co_usec check_due, heard, connected_at;
    /* DTLS, SRTP */
    bool active;                      /* our role */
    struct dtls_fingerprint fingerprint;
    struct dtls *dtls;
    struct srtp_out *out;
    struct srtp_in *in;
    uint64_t forged;                  /* as it was counted last */
    struct load_rtc_look look;        /* of a player */
    struct load_rtc_send *send;       /* of a publisher, else NULL */
};

/* Of the process: a certificate for all. */
err_t load_rtc_init(const struct load_media *source, bool cm) __attribute__((warn_unused_result));
/* Offer, answer, checks, handshake: *out is connected, and the caller's until load_rtc_leave().
 * Yields. */
err_t load_rtc_join(struct load_rtc **out, struct load_client *c, const char *url,
                    const char *bind_ip, co_usec timeout) __attribute__((warn_unused_result));
/* Media until the session is over or the server ends it. Yields. */
err_t load_rtc_stay(struct load_rtc *p) __attribute__((warn_unused_result));
void load_rtc_leave(struct load_rtc *p); /* says so, and frees; NULL is fine */

/* A datagram to the server, through the bad network if there is one. */
void load_rtc_say(struct load_rtc *p, const void *data, size_t size);
/* A compound of RTCP, in the clear. */
void load_rtc_report(struct load_rtc *p, const struct wr *rtcp);

/* ---- rtc_talk.c */
/* The offer of one that plays, or of one that publishes the tracks of that source, and its answer:
 * where to go, with what. Yields. */
err_t load_rtc_talk(struct load_rtc *p, struct dtls_identity *id, const struct load_media *source,
                    const char *url, co_usec timeout) __attribute__((warn_unused_result));
/* What an answer says. ERR_RTC_SDP: it lacks something. */
err_t load_rtc_answer(struct load_rtc *p, const struct sdp_agreed *offer, const char *text,
                      size_t size) __attribute__((warn_unused_result));

#endif
