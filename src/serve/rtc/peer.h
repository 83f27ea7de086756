/* SPDX-License-Identifier: MIT */
/* peer.h - one WebRTC client of this worker; private to serve/rtc.
 *
 * Its life: an offer creates it (admit.c) in a coroutine that authorizes it and writes the answer.
 * It waits for an authenticated ICE check (input.c), then for DTLS; then media flow. It publishes
 * (publish.c; the coroutine stays, for the code that watches and stops publishers) or plays
 * (play.c; the coroutine has ended).
 */
#ifndef SERVE_RTC_PEER_H
#define SERVE_RTC_PEER_H

#include "proto/dtls/dtls.h"
#include "proto/rtp/header.h"
#include "proto/sdp/agree.h"
#include "proto/srtp/srtp.h"
#include "proto/stun/ice.h"
#include "serve/datagram/client.h"
#include "serve/rtc/rtc.h"
#include "serve/rtc/table.h"
#include "session/address_limits.h"
#include "session/player.h"
#include "session/publisher.h"

struct rtc_request;       /* the request that created it: request.h */
struct rtc_endpoint;  /* a socket and its reader, or a TCP connection: impl.h */
struct rtc_handshake; /* handshake.c */
struct rtc_publish;   /* publisher state (publish.c) */
struct rtc_play;      /* player state (play.c) */

struct rtc_peer {
    struct datagram_client base; /* its cid is also our CNAME; its ip is that of the request */
    struct rtc_service *service;
    struct sdp_agreed agreed;
    struct ice ice;
    struct dtls *dtls;           /* NULL: no DTLS, or a helper thread has it */
    struct rtc_handshake *handshake; /* set while a helper thread runs the handshake */
    struct srtp_out *srtp_out;   /* NULL: not connected, or unencrypted */
    struct srtp_in *srtp_in;
    bool clear, no_dtls;         /* without SRTP; also without DTLS */
    enum srtp_profile profile;   /* valid once connected */
    co_usec answered, checked, connected, first_packet; /* time of each step; 0: not yet */
    struct rtc_publish *publish; /* NULL: not a publisher */
    struct rtc_play *play;       /* NULL: not a player */
    struct rtc_request *req;     /* the request while DATAGRAM_ADMITTING; else NULL */
    struct co *waiter;            /* coroutine that waits for the answer */
    struct dtls_identity *identity; /* our certificate, referenced */
    char token[17], etag[24];
    char ufrag[ICE_OURS_MAX + 1]; /* from the first answer: its name in Location */
    bool chosen_name;             /* the client chose the ufrag */
    bool gathers;                /* players of its stream are moved to the owner worker */
    struct rtc_name name, location; /* entries of ice.ufrag and ufrag in the table */
    struct rtc_route *routes;    /* its addresses, newest first */
    struct rtc_rate {
        co_usec second;
        unsigned n;
    } dtls_rate, rtcp_rate, bad_rate, restarts;
    co_usec deaf_until;          /* ignores its packets until then after too many bad ones */
    unsigned address_changes;
    uint64_t received, sent;     /* RTP packets */
    uint64_t in_before;          /* bytes of checks and handshake, not counted as media */
    uint32_t ssrc;               /* our SSRC in receiver reports */
    struct address_slot pending;  /* counts towards the limit of unconnected sessions */
};

/* ---- send.c: over the chosen path, UDP or TCP; drops if it is full. None of these yields. */
void rtc_peer_send(struct rtc_peer *p, const void *data, size_t size); /* sends one datagram */
/* Batch of datagrams to several sessions, sent with one system call. */
enum { RTC_BATCH = 16 };
struct rtc_batch { /* empty when zeroed */
    struct rtc_endpoint *endpoint;
    unsigned n;
    struct udp_out out[RTC_BATCH];
    struct iovec iov[RTC_BATCH];
};
/* Adds pieces of `segment` bytes; the last may be shorter. Data and session must stay valid until
 * rtc_batch_send() in the same turn. */
void rtc_batch_add(struct rtc_batch *b, struct rtc_peer *p, const uint8_t *data, size_t size,
                   size_t segment);
void rtc_batch_send(struct rtc_batch *b); /* empties the batch */
/* Encrypts and sends an RTCP compound. */
void rtc_peer_rtcp(struct rtc_peer *p, const uint8_t *rtcp, size_t size);

/* Returns true if its TCP connection accepts no more data for now. */
bool rtc_peer_is_full(const struct rtc_peer *p);
void rtc_peer_send_on(const struct ice_path *way, const void *data, size_t size);

/* ---- connect.c: from the first check on. None of these yields. */
/* the first authenticated check arrived */
void rtc_peer_checked(struct rtc_peer *p, co_usec now);
void rtc_peer_dtls(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now);
/* handles handshake data that arrived */
void rtc_peer_on_handshake(struct rtc_peer *p, co_usec now);
void rtc_peer_set_timer(struct rtc_peer *p, co_usec now); /* called after each change */
void rtc_peer_turn(struct datagram_client *client, co_usec now); /* called when the timer is due */
/* Counts received bytes as media. Bytes before it is connected do not count: they must not keep a
 * stream alive whose publisher never connects. */
static inline void rtc_peer_came(struct rtc_peer *p, size_t size)
{
    if (p->base.state == DATAGRAM_ACTIVE)
        p->base.session.in += size;
    else
        p->in_before += size;
}
/* Counts one event of this second; returns false if there were `most` already. */
static inline bool rtc_rate_take(struct rtc_rate *r, unsigned most, co_usec now)
{
    if (now - r->second >= CO_SECONDS(1)) {
        r->second = now;
        r->n = 0;
    }
    return r->n++ < most;
}

/* ---- publish.c: in the peer's coroutine */
err_t rtc_publish_admit(struct rtc_peer *p)  /* before the answer; yields */
    __attribute__((warn_unused_result));
err_t rtc_publish_run(struct rtc_peer *p)    /* runs until its end; yields */
    __attribute__((warn_unused_result));
void rtc_publish_end(struct rtc_peer *p, err_t why); /* `why` is borrowed; may yield */
void rtc_publish_connected(struct rtc_peer *p, co_usec now);
/* Handle an authenticated packet or compound. Neither yields. */
void rtc_publish_rtp(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now);
void rtc_publish_rtcp(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now);
/* Adds its packet counters: lost, nacks, plis, rtt, jitter. */
void rtc_publish_stat(const struct rtc_peer *p, struct rtc_client_stat *out);
/* Returns the SSRC that carries a track, 0: none yet, and the offset from its sequence numbers to
 * those in the wire. */
uint32_t rtc_publish_source(const struct rtc_peer *publisher, enum av_kind kind, int64_t *shift);
/* Requests a key frame for a player: sends a PLI, at most one per 500 ms. */
void rtc_publish_request_key(struct rtc_peer *publisher, co_usec now);

/* ---- play.c */
err_t rtc_play_admit(struct rtc_peer *p)     /* before the answer; yields */
    __attribute__((warn_unused_result));
/* Returns the codecs of the stream for the negotiation; also used for a publisher's request. */
void rtc_play_spec(const struct rtc_peer *p, struct sdp_spec *spec);
/* Returns the publisher's SSRC if the player must use it (keep_original_ssrc); 0: a new one. */
uint32_t rtc_play_source(const struct rtc_peer *p, enum av_kind kind);
void rtc_play_connected(struct rtc_peer *p, co_usec now); /* starts serving it */
void rtc_play_rtcp(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now);
void rtc_play_end(struct rtc_peer *p, err_t why);
/* Functions for datagram_client_ops. */
err_t rtc_play_changed(struct datagram_client *c);
void rtc_play_check(struct datagram_client *c, co_usec now);
void rtc_play_log_sample(const struct datagram_client *c, co_usec now);
void rtc_play_stat(const struct rtc_peer *p, struct rtc_client_stat *out); /* same for a player */

#endif
