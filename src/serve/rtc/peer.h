/* SPDX-License-Identifier: MIT */
/* peer.h - one WebRTC client of this worker, for the files of serve/rtc alone.
 *
 * Its life: an offer makes it (admit.c), in a coroutine that asks whether it may and writes the
 * answer. It waits for a check of ICE that proves it (input.c), then for DTLS, then media flow:
 * it publishes (publish.c; the coroutine stays, for what watches and stops publishers) or plays
 * (play.c; the coroutine has ended). It ends by DELETE, close_notify, silence, a kick, or its
 * stream.
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

struct rtc_request;       /* the request that made it: request.h */
struct rtc_endpoint;  /* a socket and its reader, or a connection of TCP: impl.h */
struct rtc_handshake; /* handshake.c */
struct rtc_publish;   /* what publishers have more (publish.c) */
struct rtc_play;      /* what players have more (play.c) */

struct rtc_peer {
    struct datagram_client base; /* its cid is the CNAME of what we send, too; its ip is that of
                                  * the request */
    struct rtc_service *service;
    struct sdp_agreed agreed;
    struct ice ice;
    struct dtls *dtls;           /* NULL: it goes without, or a helper thread has it */
    struct rtc_handshake *handshake; /* its handshake is at a helper thread; else NULL */
    struct srtp_out *srtp_out;   /* NULL: not connected, or in the clear */
    struct srtp_in *srtp_in;
    bool clear, no_dtls;         /* without SRTP; and without DTLS as well */
    enum srtp_profile profile;   /* once it is connected */
    co_usec answered, checked, connected, first_packet; /* when; 0: not yet */
    struct rtc_publish *publish; /* or NULL */
    struct rtc_play *play;       /* or NULL */
    struct rtc_request *req;     /* while DATAGRAM_ADMITTING: what is asked for; else NULL */
    struct co *asker;            /* waits for its answer */
    struct dtls_identity *identity; /* our certificate, with a reference */
    char token[17], etag[24];
    char ufrag[ICE_OURS_MAX + 1]; /* that of its first answer: its name in Location */
    bool asked_name;             /* it was the client's request */
    bool gathers;                /* players of its stream come home for its packets */
    struct rtc_name name, location; /* ice.ufrag, ufrag: in the table */
    struct rtc_route *routes;    /* addresses of it, the newest first */
    struct rtc_rate {
        co_usec second;
        unsigned n;
    } dtls_rate, rtcp_rate, bad_rate, restarts;
    co_usec deaf_until;          /* too much of it was bad: it is not read until then */
    unsigned address_changes;
    uint64_t received, sent;     /* packets of RTP */
    uint64_t in_before;          /* bytes of checks and handshake: they are no life of a stream */
    uint32_t ssrc;               /* ours, in reports of a receiver */
    struct address_slot pending;  /* among those who are not connected */
};

/* ---- send.c: to the chosen way, UDP or TCP; lost where that is full. None yields. */
void rtc_peer_send(struct rtc_peer *p, const void *data, size_t size); /* one datagram */
/* Several for each of several sessions, that go out together: one call of the system for all. */
enum { RTC_BATCH = 16 };
struct rtc_batch { /* zeroed: it is empty */
    struct rtc_endpoint *endpoint;
    unsigned n;
    struct udp_out out[RTC_BATCH];
    struct iovec iov[RTC_BATCH];
};
/* Pieces of `segment` bytes, the last may be shorter. They and the session stay where they are
 * until rtc_batch_send(), in the same turn. */
void rtc_batch_add(struct rtc_batch *b, struct rtc_peer *p, const uint8_t *data, size_t size,
                   size_t segment);
void rtc_batch_send(struct rtc_batch *b); /* it is empty after it */
/* A compound of RTCP, in the clear: it is encrypted here. */
void rtc_peer_rtcp(struct rtc_peer *p, const uint8_t *rtcp, size_t size);

/* Its way takes no more for now: a connection of TCP. */
bool rtc_peer_is_full(const struct rtc_peer *p);
void rtc_peer_send_on(const struct ice_path *way, const void *data, size_t size);

/* ---- connect.c: from its first check on. None of them yields. */
void rtc_peer_checked(struct rtc_peer *p, co_usec now);   /* for the first time */
void rtc_peer_dtls(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now);
void rtc_peer_shaken(struct rtc_peer *p, co_usec now);    /* what came was heard */
void rtc_peer_set_timer(struct rtc_peer *p, co_usec now); /* after each change */
void rtc_peer_turn(struct datagram_client *client, co_usec now); /* the timer is due */
/* So much of it came, that it did send. What comes before it is connected keeps no stream of a
 * publisher that never will be. */
static inline void rtc_peer_came(struct rtc_peer *p, size_t size)
{
    if (p->base.state == DATAGRAM_ACTIVE)
        p->base.session.in += size;
    else
        p->in_before += size;
}
/* One more in this second; false: there were that many already. */
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
err_t rtc_publish_run(struct rtc_peer *p)    /* until its end; yields */
    __attribute__((warn_unused_result));
void rtc_publish_end(struct rtc_peer *p, err_t why); /* `why` is borrowed; may yield */
void rtc_publish_connected(struct rtc_peer *p, co_usec now);
/* A packet or compound that was authenticated. They do not yield. */
void rtc_publish_rtp(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now);
void rtc_publish_rtcp(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now);
/* Adds what it knows of its packets: lost, nacks, plis, rtt, jitter. */
void rtc_publish_stat(const struct rtc_peer *p, struct rtc_client_stat *out);
/* The source that speaks for a track of it, 0: none does yet; and what is added to its numbers on
 * their way into the wire. */
uint32_t rtc_publish_source(const struct rtc_peer *publisher, enum av_kind kind, int64_t *shift);
/* A player of the stream wants a key frame: PLI, at most one in 500 ms. */
void rtc_publish_want_key(struct rtc_peer *publisher, co_usec now);

/* ---- play.c */
err_t rtc_play_admit(struct rtc_peer *p)     /* before the answer; yields */
    __attribute__((warn_unused_result));
/* What the stream has, for the negotiation; also of a publisher's request. */
void rtc_play_spec(const struct rtc_peer *p, struct sdp_spec *spec);
/* The SSRC of the publisher that it is to have (keep_original_ssrc); 0: one of its own. */
uint32_t rtc_play_source(const struct rtc_peer *p, enum av_kind kind);
void rtc_play_connected(struct rtc_peer *p, co_usec now); /* it is served from now on */
void rtc_play_rtcp(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now);
void rtc_play_end(struct rtc_peer *p, err_t why);
/* Rows of datagram_client_ops. */
err_t rtc_play_changed(struct datagram_client *c);
void rtc_play_check(struct datagram_client *c, co_usec now);
void rtc_play_log_sample(const struct datagram_client *c, co_usec now);
void rtc_play_stat(const struct rtc_peer *p, struct rtc_client_stat *out); /* the same */

#endif
