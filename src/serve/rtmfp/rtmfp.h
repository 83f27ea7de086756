/* SPDX-License-Identifier: MIT */
/* rtmfp.h - RTMFP: publishers, players and peers that look for each other, over one UDP socket of a
 * worker for each endpoint.
 *
 * The protocol itself is proto/rtmfp, without I/O. Here are the sockets, the table of sessions,
 * keys on helper threads, the conversation (connect, createStream, publish, play), the fan-out, and
 * what peers are told of each other. A session has no coroutine and no stack; a coroutine is there
 * while a backend is asked, and while somebody publishes.
 *
 * All of this is of one worker's thread, but what is in struct rtmfp_shared.
 */
#ifndef SERVE_RTMFP_RTMFP_H
#define SERVE_RTMFP_RTMFP_H

#include "base/counters.h"
#include "co/net/udp.h"
#include "proto/rtmfp/responder.h"
#include "session/env.h"

struct datagram_protocol;
struct rtmfp_service; /* of one worker */
struct session;
struct clients_detail;

extern const struct datagram_protocol rtmfp_protocol;

/* Why a packet to a session was dropped. */
enum rtmfp_bad { RTMFP_BAD_SIZES, RTMFP_BAD_SUMS, RTMFP_BAD_REPEATED, RTMFP_BAD_STRANGER,
                 RTMFP_BAD_KINDS };

struct rtmfp_service_stat { /* words alone, of which all are sums */
    uint64_t sessions, connected, publishers, players, keying; /* at this moment */
    uint64_t opened;                 /* so far, */
    uint64_t ended[8];               /* by enum rtmfp_end */
    uint64_t startup, hellos, keyings, repeats, changes; /* startup packets, and what was in them */
    uint64_t drops[RTMFP_DROP_KINDS]; /* of startup packets; behind them, as two more kinds, */
    uint64_t startup_limited, key_refused; /* over the rate of an address; too many waited */
    uint64_t bad[RTMFP_BAD_KINDS];
    uint64_t key_jobs, key_time;     /* made; microseconds waited and worked, together */
    uint64_t pairs_made, pairs_missed; /* ahead; and when one was needed at once */
    uint64_t pings_lost, moves, lost, again, abandoned, bad_chunks; /* of all sessions there were */
    uint64_t introductions, introductions_limited, unknown_peers, redirects;
    uint64_t group_members, groups;  /* at this moment */
    uint64_t skips;                  /* players that went on at a key frame */
    uint64_t passed;                 /* datagrams that came to another worker */
    struct udp_stat sockets;
};
extern const struct counter_table rtmfp_counters; /* reads the struct above */

/* What a list shows of one client: its session, which may have other streams, since it began. */
struct rtmfp_client_stat {
    char peer_id[2 * RTMFP_PEER_ID + 1]; /* in hexadecimal */
    char remote[72];            /* the peer's address */
    uint64_t hmac, numbered, group; /* what it agreed on; the group of Diffie-Hellman: 2, 5, 14 */
    uint64_t sent, received;    /* packets */
    uint64_t lost, again, abandoned; /* fragments lost, retransmitted; messages given up */
    uint64_t missing;           /* of a publisher: messages that it gave up */
    uint64_t skips;             /* of a player: it went on at a key frame */
    uint64_t waiting, pings_lost, moves; /* waiting: bytes to be sent */
    co_usec rtt;
};
extern const struct clients_detail rtmfp_client_detail; /* reads that */

static inline struct rtmfp_service *rtmfp_service_of(const struct session_env *env)
{
    return env->service[PROTOCOL_RTMFP]; /* NULL: it is off */
}

#endif
