/* SPDX-License-Identifier: MIT */
/* session.h - an open session: what plain packets of the peer say, and those that it is sent.
 *
 * RFC 7016, sections 3.5 and 3.6. After keys are agreed both sides are the same but for the mode of
 * their packets, so the server, the load tool and the tests use this. Encryption is the caller's
 * (crypt.h): plain packets come in, plain packets and a deadline go out.
 *
 *     rtmfp_session_init(&s, &set, peer, now)
 *     rtmfp_session_input(&s, plain, from, now)
 *     while ((n = rtmfp_session_output(&s, &w, &to, now)) > 0) seal it, send it to `to`
 *     a timer at rtmfp_session_deadline(&s), then output again
 *
 * What is idle has no memory of its own but its flows. No I/O, nothing yields.
 */
#ifndef PROTO_RTMFP_SESSION_H
#define PROTO_RTMFP_SESSION_H

#include "base/siphash.h"
#include "proto/rtmfp/congestion.h"
#include "proto/rtmfp/flow_in.h"
#include "proto/rtmfp/flow_out.h"

enum {
    RTMFP_FLOWS_MAX = 64,          /* each way */
    RTMFP_FLOWS_OPENED_MAX = 200,  /* by the peer, in 10 s */
    RTMFP_FLOWS_OVER_MAX = 64,     /* that are over and still acknowledged, 3.6.3.6 */
    RTMFP_LIST_MAX = 512,          /* bytes of metadata of a flow of the peer's */
    RTMFP_FORWARDS_MAX = 8,        /* Forwarded IHello that wait to be sent */
    RTMFP_FORWARD_MAX = 1024,      /* bytes of one: it fits into a packet of its own for sure */
};

struct rtmfp_session;

/* Who uses the session. All of them in rtmfp_session_input(), which must not be called in them;
 * flows may be opened, written to and closed, and the session closed. */
struct rtmfp_session_ops {
    /* The peer opens a flow; `answers`: the one of ours that it answers, or NULL. False: it is
     * rejected with code 0. NULL: all are accepted. */
    bool (*opened)(struct rtmfp_session *s, struct rtmfp_flow_in *f, struct rtmfp_bytes metadata,
                   struct rtmfp_flow_out *answers);
    /* A whole message. False: the flow is rejected. */
    bool (*message)(struct rtmfp_session *s, struct rtmfp_flow_in *f, const uint8_t *data,
                    size_t size);
    /* All of a flow that was accepted came, or the session has ended: it is freed after this. */
    void (*closed)(struct rtmfp_session *s, struct rtmfp_flow_in *f);
    /* The peer takes nothing of it, or it is complete: it is freed after this. */
    void (*done)(struct rtmfp_session *s, struct rtmfp_flow_out *f, bool rejected);
    /* It is reached at s->peer from now on. */
    void (*moved)(struct rtmfp_session *s, const struct udp_addr *from);
    /* A Forwarded IHello (3.5.1.5), for who lets peers open sessions to it; or NULL. */
    void (*forwarded)(struct rtmfp_session *s, struct rtmfp_bytes body);
};

/* Of all sessions there were. */
struct rtmfp_session_sums {
    uint64_t pings_lost, moves, bad_chunks;
    struct rtmfp_flow_sums flows;
};

/* The same for many sessions; outlives them. */
struct rtmfp_session_set {
    const struct rtmfp_session_ops *ops;
    enum rtmfp_mode mode;       /* of what we send */
    co_usec ping, timeout;      /* one that is silent for so long is pinged, has ended */
    size_t message_max;         /* bytes */
    uint8_t key[SIPHASH_KEY];   /* of pings to addresses that a peer may have moved to */
    struct rtmfp_session_sums *sums; /* or NULL */
};

enum rtmfp_state {
    RTMFP_OPEN,
    RTMFP_CLOSING,              /* we said so, and wait for an answer, 90 s at most */
    RTMFP_LINGERING,            /* the peer said so: it is answered for 19 s */
    RTMFP_CLOSED,               /* nothing is left to do, but what output() still gives */
};

enum rtmfp_end {
    RTMFP_NOT_ENDED, RTMFP_ENDED_HERE, RTMFP_ENDED_THERE,
    RTMFP_ENDED_SILENT,         /* nothing valid came for `timeout` */
    RTMFP_ENDED_UNANSWERED,     /* nor an answer to three pings */
    RTMFP_ENDED_HOSTILE,        /* it went over a limit of one session: s->why */
};

struct rtmfp_session_stat {
    uint64_t received, sent;    /* packets */
    uint64_t bad_chunks;        /* that made no sense */
    uint64_t pings_lost, moves;
    uint64_t lost, again, abandoned; /* fragments lost, and sent again, messages given up: of flows
                                      * that ended */
};

struct rtmfp_flow_over;         /* of the peer, session_flows.c */
struct rtmfp_move;              /* a move that is tried, session_upkeep.c */
struct rtmfp_forward;           /* waits to be sent, the same */

struct rtmfp_session {
    const struct rtmfp_session_set *set;
    struct udp_addr peer;
    uint8_t state, end;         /* enum rtmfp_state, enum rtmfp_end */
    bool older;                 /* without HMAC or numbers: a client that knows no Buffer Probe */
    bool hmac;                  /* packets cannot be forged */
    const char *why;            /* RTMFP_ENDED_HOSTILE: static */
    struct rtmfp_session_stat stat;
    struct rtmfp_congestion congestion;
    struct rtmfp_flow_in *ins;
    struct rtmfp_flow_out *outs; /* by order */
    struct rtmfp_store store;   /* what incoming flows hold; `most` may be set to less */
    /* the rest is session*.c's own */
    co_usec heard_at, closing_since, say_close_at;
    co_usec ack_at;             /* something is to be acknowledged; 0: nothing is */
    co_usec time_heard_at;
    uint64_t next_id;           /* of flows of ours */
    uint32_t number;            /* transmissions */
    uint16_t time_heard, echo_heard, echo_said;
    bool has_time, has_echo_heard, has_echo_said;
    co_usec moved_at;
    bool ping_now;
    bool say_close_ack, taking; /* taking: in rtmfp_session_input() */
    uint8_t pings;              /* unanswered */
    uint8_t data_packets;       /* with user data, since the last acks */
    uint8_t n_ins, n_outs;
    uint16_t opened_lately;
    co_usec opened_since;
    uint8_t *reply;             /* bytes that a ping brought, to go back; */
    uint16_t reply_size;
    bool replies;
    struct rtmfp_flow_over *over; /* a ring of RTMFP_FLOWS_OVER_MAX; or NULL */
    uint8_t over_next;
    struct rtmfp_move *move;
    struct rtmfp_forward *forwards; /* the oldest first */
};

void rtmfp_session_init(struct rtmfp_session *s, const struct rtmfp_session_set *set,
                        const struct udp_addr *peer, co_usec now);
void rtmfp_session_fini(struct rtmfp_session *s);

/* A plain packet that was sealed with its keys, from there. It is all or nothing for its head; a
 * chunk that makes no sense is dropped alone. */
void rtmfp_session_input(struct rtmfp_session *s, struct rtmfp_bytes plain,
                         const struct udp_addr *from, co_usec now);
/* The next plain packet, into a writer that rtmfp_seal_begin() made, and where it goes to. False:
 * there is none for now. */
bool rtmfp_session_output(struct rtmfp_session *s, struct wr *w, struct udp_addr *to, co_usec now);
/* When output() is to be called next, if nothing comes; CO_FOREVER: never. */
co_usec rtmfp_session_deadline(const struct rtmfp_session *s);
/* Acks are due: they are not to wait for other packets that came with this one, for each is to
 * stand for two with user data at most (3.6.3.4.1), and one of many may be lost. */
static inline bool rtmfp_session_says_acks(const struct rtmfp_session *s, co_usec now)
{
    return s->ack_at && s->ack_at <= now;
}
/* By a Session Close; flows end now, and what they had is not sent. */
void rtmfp_session_close(struct rtmfp_session *s, co_usec now);
/* It went over a limit of one session, of which `why` (static) tells: it ends at once. */
void rtmfp_session_hostile(struct rtmfp_session *s, const char *why);
/* Ask whether it is still there: the deadline of one that claims its place. */
void rtmfp_session_ping(struct rtmfp_session *s);
/* The body of a Forwarded IHello (3.5.1.5) for the peer, which is copied. Sent once: who asks for
 * it asks again. False: the session is not open, too many wait, or it is too large. */
bool rtmfp_session_forward(struct rtmfp_session *s, struct rtmfp_bytes body);

/* ---- flows of ours */

/* Data of all but RTMFP_COMMANDS is real-time (2.2.4): its packets are flagged so.
 * `answers`: the peer's flow that it is associated with, or NULL. NULL: there are too many. Its
 * metadata has RTMFP_METADATA_MAX bytes at most. Owned by the session until done(). */
struct rtmfp_flow_out *rtmfp_flow_open(struct rtmfp_session *s, struct rtmfp_bytes metadata,
                                       const struct rtmfp_flow_in *answers,
                                       enum rtmfp_order order);

#endif
