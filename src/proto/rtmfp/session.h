/* SPDX-License-Identifier: MIT */
/* session.h - an open session: handles plain packets of the peer and writes those to be sent.
 *
 * RFC 7016, sections 3.5 and 3.6. After the key exchange both sides differ only in the mode of
 * their packets, so the server, the load tool and the tests use this. The caller encrypts
 * (crypt.h); plain packets go in, plain packets and a deadline come out.
 *
 *     rtmfp_session_init(&s, &set, peer, now)
 *     rtmfp_session_input(&s, plain, from, now)
 *     while ((n = rtmfp_session_output(&s, &w, &to, now)) > 0) seal it, send it to `to`
 *     a timer at rtmfp_session_deadline(&s), then output again
 *
 * An idle session has no memory of its own except its flows. No I/O, does not yield.
 */
#ifndef PROTO_RTMFP_SESSION_H
#define PROTO_RTMFP_SESSION_H

#include "base/siphash.h"
#include "proto/rtmfp/congestion.h"
#include "proto/rtmfp/flow_in.h"
#include "proto/rtmfp/flow_out.h"

enum {
    RTMFP_FLOWS_MAX = 64,          /* per direction */
    RTMFP_FLOWS_OPENED_MAX = 200,  /* limit of flows the peer may open in 10 s */
    RTMFP_FLOWS_OVER_MAX = 64,     /* completed flows that are still acknowledged, 3.6.3.6 */
    RTMFP_LIST_MAX = 512,          /* bytes of metadata of a peer's flow */
    RTMFP_FORWARDS_MAX = 8,        /* Forwarded IHello that wait to be sent */
    RTMFP_FORWARD_MAX = 1024,      /* bytes of one: always fits into a packet of its own */
};

struct rtmfp_session;

/* Callbacks of the session's owner. All are called from rtmfp_session_input(), which they must not
 * call. They may open, write and close flows, and close the session. */
struct rtmfp_session_ops {
    /* The peer opens a flow. `answers`: our flow that it responds to, or NULL. Returns false to
     * reject it with code 0. NULL accepts all. */
    bool (*opened)(struct rtmfp_session *s, struct rtmfp_flow_in *f, struct rtmfp_bytes metadata,
                   struct rtmfp_flow_out *answers);
    /* Delivers a complete message. Returns false to reject the flow. */
    bool (*message)(struct rtmfp_session *s, struct rtmfp_flow_in *f, const uint8_t *data,
                    size_t size);
    /* An accepted flow is complete, or the session has ended; the flow is freed afterwards. */
    void (*closed)(struct rtmfp_session *s, struct rtmfp_flow_in *f);
    /* The peer rejected the flow, or it is complete; it is freed afterwards. */
    void (*done)(struct rtmfp_session *s, struct rtmfp_flow_out *f, bool rejected);
    /* The peer's address is s->peer from now on. */
    void (*moved)(struct rtmfp_session *s, const struct udp_addr *from);
    /* A Forwarded IHello (3.5.1.5), for clients to which peers may open sessions; or NULL. */
    void (*forwarded)(struct rtmfp_session *s, struct rtmfp_bytes body);
};

/* Sums over all sessions, including ended ones. */
struct rtmfp_session_sums {
    uint64_t pings_lost, moves, bad_chunks;
    struct rtmfp_flow_sums flows;
};

/* Parameters shared by many sessions, which it outlives. */
struct rtmfp_session_set {
    const struct rtmfp_session_ops *ops;
    enum rtmfp_mode mode;       /* mode of the packets we send */
    co_usec ping, timeout; /* a silent session is pinged after `ping`, and ended after `timeout` */
    size_t message_max;         /* limit of a message, in bytes */
    uint8_t key[SIPHASH_KEY];   /* for pings to addresses to which a peer may have moved */
    struct rtmfp_session_sums *sums; /* or NULL */
};

enum rtmfp_state {
    RTMFP_OPEN,
    RTMFP_CLOSING,              /* we sent Session Close and wait for the ack, at most 90 s */
    RTMFP_LINGERING,            /* the peer sent Session Close: it is acknowledged for 19 s */
    RTMFP_CLOSED,               /* nothing is left to do, except what output() still returns */
};

enum rtmfp_end {
    RTMFP_NOT_ENDED, RTMFP_ENDED_HERE, RTMFP_ENDED_THERE,
    RTMFP_ENDED_SILENT,         /* no valid packet arrived for `timeout` */
    RTMFP_ENDED_UNANSWERED,     /* nor a response to three pings */
    RTMFP_ENDED_HOSTILE,        /* it exceeded a limit of one session: s->why */
};

struct rtmfp_session_stat {
    uint64_t received, sent;    /* packets */
    uint64_t bad_chunks;        /* invalid chunks */
    uint64_t pings_lost, moves;
    uint64_t lost, retransmitted; /* fragments, in flows that ended */
    uint64_t abandoned;         /* messages, in flows that ended */
};

struct rtmfp_flow_over;         /* a completed flow of the peer, session_flows.c */
struct rtmfp_move;              /* an unproven move, session_keepalive.c */
struct rtmfp_forward;           /* a waiting Forwarded IHello, session_keepalive.c */

struct rtmfp_session {
    const struct rtmfp_session_set *set;
    struct udp_addr peer;
    uint8_t state, end;         /* enum rtmfp_state, enum rtmfp_end */
    bool older; /* without HMAC or sequence numbers: a client that does not know Buffer Probe */
    bool hmac;                  /* packets cannot be forged */
    const char *why;            /* with RTMFP_ENDED_HOSTILE: static text */
    struct rtmfp_session_stat stat;
    struct rtmfp_congestion congestion;
    struct rtmfp_flow_in *ins;
    struct rtmfp_flow_out *outs; /* ordered by `order` */
    struct rtmfp_store store;   /* bytes held by incoming flows; `most` may be lowered */
    /* the rest is private to session*.c */
    co_usec received_at, closing_since, send_close_at;
    co_usec ack_at;             /* when acks are due; 0: none */
    co_usec peer_time_at;
    uint64_t next_id;           /* id of our last flow */
    uint32_t number;            /* number of the next transmission */
    uint16_t peer_time, peer_echo, echo_sent;
    bool has_time, has_peer_echo, has_echo_sent;
    co_usec moved_at;
    bool ping_now;
    bool send_close_ack, taking; /* taking: inside rtmfp_session_input() */
    uint8_t pings;              /* without a response */
    uint8_t data_packets;       /* packets with user data since the last acks */
    uint8_t n_ins, n_outs;
    uint16_t opened_lately;
    co_usec opened_since;
    uint8_t *reply;             /* bytes of a received ping, to be returned; */
    uint16_t reply_size;
    bool replies;
    struct rtmfp_flow_over *over; /* ring of RTMFP_FLOWS_OVER_MAX; or NULL */
    uint8_t over_next;
    struct rtmfp_move *move;
    struct rtmfp_forward *forwards; /* oldest first */
};

void rtmfp_session_init(struct rtmfp_session *s, const struct rtmfp_session_set *set,
                        const struct udp_addr *peer, co_usec now);
void rtmfp_session_fini(struct rtmfp_session *s);

/* Handles a plain packet that was sealed with the session's keys, from this address. An invalid
 * head invalidates the packet; an invalid chunk is dropped alone. */
void rtmfp_session_input(struct rtmfp_session *s, struct rtmfp_bytes plain,
                         const struct udp_addr *from, co_usec now);
/* Writes the next plain packet to a writer from rtmfp_seal_begin(), and its destination. Returns
 * false if there is none for now. */
bool rtmfp_session_output(struct rtmfp_session *s, struct wr *w, struct udp_addr *to, co_usec now);
/* Returns when to call output() if nothing arrives; CO_FOREVER: never. */
co_usec rtmfp_session_deadline(const struct rtmfp_session *s);
/* Returns whether acks are due. They must not wait for other packets received together with this
 * one, because each ack should cover at most two packets with user data (3.6.3.4.1), and one of
 * many may be lost. */
static inline bool rtmfp_session_acks_due(const struct rtmfp_session *s, co_usec now)
{
    return s->ack_at && s->ack_at <= now;
}
/* Closes with a Session Close; flows end at once, and unsent data are dropped. */
void rtmfp_session_close(struct rtmfp_session *s, co_usec now);
/* Ends a session at once that exceeded a limit; `why` is a static text. */
void rtmfp_session_hostile(struct rtmfp_session *s, const char *why);
/* Pings the peer, to check a session whose place another one claims. */
void rtmfp_session_ping(struct rtmfp_session *s);
/* Sends a copy of the body of a Forwarded IHello (3.5.1.5) to the peer, once: the requester repeats
 * its request if needed. Returns false if the session is not open, too many wait, or it is too
 * large. */
bool rtmfp_session_forward(struct rtmfp_session *s, struct rtmfp_bytes body);

/* ---- our flows */

/* Opens a flow. Data of all orders except RTMFP_COMMANDS are real-time (2.2.4): their packets are
 * flagged. `answers`: the peer's flow to associate it with, or NULL. Metadata have at most
 * RTMFP_METADATA_MAX bytes. Returns NULL if there are too many flows. Owned by the session until
 * done(). */
struct rtmfp_flow_out *rtmfp_flow_open(struct rtmfp_session *s, struct rtmfp_bytes metadata,
                                       const struct rtmfp_flow_in *answers,
                                       enum rtmfp_order order);

#endif
