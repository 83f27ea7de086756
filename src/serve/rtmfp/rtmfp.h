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
struct clients_rtmfp;

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

/* What a list shows of one client: session.rtmfp of all of them. */
bool rtmfp_netstream_tell(const struct session *s, struct clients_rtmfp *out);

static inline struct rtmfp_service *rtmfp_service_of(const struct session_env *env)
{
    return env->service[PROTOCOL_RTMFP]; /* NULL: it is off */
}

#endif
