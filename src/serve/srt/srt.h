/* SPDX-License-Identifier: MIT */
/* srt.h - SRT: publishers and players over one UDP socket per worker and endpoint.
 *
 * A reader coroutine per socket passes packets to their connections by id. A connection has no
 * descriptor, and a player has no coroutine: one walk serves all players of a stream (stream.c).
 * With several workers, the low bits of an id name the worker, and the kernel delivers packets to
 * the right one (section "SRT" of serve/README.md).
 *
 * All of this is used on one worker's thread.
 */
#ifndef SERVE_SRT_SRT_H
#define SERVE_SRT_SRT_H

#include "base/counters.h"
#include "co/net/udp.h"
#include "session/env.h"
#include "proto/srt/handshake.h"

struct datagram_protocol;
struct srt_service; /* the service of one worker */
struct session;
struct clients_detail;
struct udp;

/* Once it refuses new callers they get SRT_REFUSED_CLOSING; connected clients stay. */
extern const struct datagram_protocol srt_protocol;

struct srt_media_stat { /* packets and bytes; sent ones include retransmits */
    uint64_t sent, received, send_lost, recv_lost, send_repeated, recv_repeated, send_dropped,
        recv_dropped, belated, undecrypted, sent_bytes, received_bytes;
};

struct srt_service_stat { /* only 64-bit words, all of them sums */
    uint64_t connections, publishers, players, waiting; /* waiting for admission */
    uint64_t handshakes, dropped;    /* conclusions; those over the rate limit of an address */
    uint64_t inductions, bad_cookies;
    uint64_t strangers;              /* packets of unknown connections, or from a wrong address */
    uint64_t key_jobs, key_refused;
    uint64_t refused[SRT_REFUSAL_KINDS]; /* by index of the reason */
    struct srt_media_stat media;     /* sum of all connections so far */
    struct udp_stat sockets;
};
extern const struct counter_table srt_counters; /* reads the struct above */

/* Details of one client for lists of the API. */
struct srt_client_stat {
    struct srt_media_stat media;
    co_usec rtt, recv_latency, send_latency, held; /* held: media waiting for its time */
    uint64_t in_flight, key_size; /* key_size 0: not encrypted */
    int64_t out_kbps, in_kbps;
    char version[16];             /* version of the peer's library: "1.5.1" */
};
extern const struct clients_detail srt_client_detail; /* reads that */

static inline struct srt_service *srt_service_of(const struct session_env *env)
{
    return env->service[PROTOCOL_SRT]; /* NULL: it is off */
}

#endif
