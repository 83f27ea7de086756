/* SPDX-License-Identifier: MIT */
/* rtc_peer.h - one client of sb_rtc_load: its offer by HTTP, a socket of its own, full ICE, DTLS,
 * SRTP. What its packets are, rtc_look.h and rtc_send.h know.
 */
#ifndef TOOLS_LOAD_RTC_PEER_H
#define TOOLS_LOAD_RTC_PEER_H

#include "proto/dtls/dtls.h"
#include "proto/sdp/agree.h"
#include "proto/srtp/srtp.h"
#include "tools/load/rtc_look.h"
#include "tools/load/rtc_send.h"
#include "tools/load/link.h"

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
