/* SPDX-License-Identifier: MIT */
/* rtmfp.h - RTMFP: publishers, players and peers that look for each other, over one UDP socket per
 * worker and endpoint.
 *
 * The protocol itself is in proto/rtmfp, without I/O. Here are sockets, the table of sessions, keys
 * on helper threads, the commands (connect, createStream, publish, play), the fan-out and the
 * introduction of peers. A session has no coroutine and no stack; there is a coroutine while a
 * backend is called and while a stream is published.
 *
 * All but struct rtmfp_shared belongs to one worker's thread.
 */
#ifndef SERVE_RTMFP_RTMFP_H
#define SERVE_RTMFP_RTMFP_H

#include "base/counters.h"
#include "co/net/udp.h"
#include "proto/rtmfp/responder.h"
#include "session/env.h"

struct datagram_protocol;
struct rtmfp_service; /* the service of one worker */
struct session;
struct clients_detail;

extern const struct datagram_protocol rtmfp_protocol;

/* Why a packet of a session was dropped. */
enum rtmfp_bad { RTMFP_BAD_SIZES, RTMFP_BAD_SUMS, RTMFP_BAD_REPEATED, RTMFP_BAD_STRANGER,
                 RTMFP_BAD_KINDS };

struct rtmfp_service_stat { /* 64-bit words only, so that they can be summed */
    uint64_t sessions, connected, publishers, players, keying; /* current */
    uint64_t opened;                 /* total */
    uint64_t ended[8];               /* by enum rtmfp_end */
    uint64_t startup, hellos, keyings, repeats, changes; /* startup packets and their kinds */
    uint64_t drops[RTMFP_DROP_KINDS]; /* dropped startup packets, followed by two more kinds: */
    uint64_t startup_limited, key_refused; /* rate limit of an address; too many waiting */
    uint64_t bad[RTMFP_BAD_KINDS];
    uint64_t key_jobs, key_time;     /* jobs; microseconds waited and worked in total */
    uint64_t pairs_made, pairs_missed; /* key pairs made in advance; missing when needed */
    uint64_t pings_lost, moves, lost, again, abandoned, bad_chunks; /* all sessions so far */
    uint64_t introductions, introductions_limited, unknown_peers, redirects;
    uint64_t group_members, groups;  /* current */
    uint64_t skips;                  /* players that skipped to a key frame */
    uint64_t passed;                 /* datagrams that reached the wrong worker */
    struct udp_stat sockets;
};
extern const struct counter_table rtmfp_counters; /* table over the struct above */

/* Details of one client in lists: its session, which may carry other streams, since it began. */
struct rtmfp_client_stat {
    char peer_id[2 * RTMFP_PEER_ID + 1]; /* in hexadecimal */
    char remote[72];            /* address of the peer */
    uint64_t hmac, numbered, group; /* agreed parameters; group: Diffie-Hellman 2, 5, 14 */
    uint64_t sent, received;    /* packets */
    uint64_t lost, again, abandoned; /* fragments lost, retransmitted; messages abandoned */
    uint64_t missing;           /* publisher: messages it abandoned */
    uint64_t skips;             /* player: skips to a key frame */
    uint64_t waiting, pings_lost, moves; /* waiting: bytes to send */
    co_usec rtt;
};
extern const struct clients_detail rtmfp_client_detail; /* table over it */

static inline struct rtmfp_service *rtmfp_service_of(const struct session_env *env)
{
    return env->service[PROTOCOL_RTMFP]; /* NULL: RTMFP is off */
}

#endif
