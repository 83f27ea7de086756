/* SPDX-License-Identifier: MIT */
/* srt.h - SRT: publishers and players over one UDP socket of a worker for each endpoint.
 *
 * A reader coroutine for each socket hands packets to their connections by the id in them. A
 * connection has no descriptor; a player has no coroutine either, all players of a stream are
 * served by one walk (stream.h). Where there are several workers the low bits of an id name the
 * worker, and the kernel gives each its own (section "SRT" of serve/README.md).
 *
 * All of this is of one worker's thread.
 */
#ifndef SERVE_SRT_SRT_H
#define SERVE_SRT_SRT_H

#include "base/counters.h"
#include "co/net/udp.h"
#include "session/env.h"
#include "proto/srt/handshake.h"

struct datagram_protocol;
struct srt_service; /* of one worker */
struct session;
struct clients_detail;
struct udp;

/* Callers are refused as SRT_REFUSED_CLOSING once it refuses; those that are connected stay. */
extern const struct datagram_protocol srt_protocol;

struct srt_media_stat { /* packets, and their bytes: sent with retransmits */
    uint64_t sent, received, send_lost, recv_lost, send_repeated, recv_repeated, send_dropped,
        recv_dropped, belated, undecrypted, sent_bytes, received_bytes;
};

struct srt_service_stat { /* words alone, of which all are sums */
    uint64_t connections, publishers, players, waiting; /* waiting: to be let in */
    uint64_t handshakes, dropped;    /* conclusions; those over the rate of an address */
    uint64_t inductions, bad_cookies;
    uint64_t strangers;              /* packets of no connection, or not from its address */
    uint64_t key_jobs, key_refused;
    uint64_t refused[SRT_REFUSAL_KINDS]; /* by their places */
    struct srt_media_stat media;     /* of all connections there were */
    struct udp_stat sockets;
};
extern const struct counter_table srt_counters; /* reads the struct above */

/* What a list shows of one client, since it began. */
struct srt_client_stat {
    struct srt_media_stat media;
    co_usec rtt, recv_latency, send_latency, held; /* held: of media, until its time comes */
    uint64_t in_flight, key_size; /* key_size 0: in the clear */
    int64_t out_kbps, in_kbps;
    char version[16];             /* of the peer's library: "1.5.1" */
};
extern const struct clients_detail srt_client_detail; /* reads that */

static inline struct srt_service *srt_service_of(const struct session_env *env)
{
    return env->service[PROTOCOL_SRT]; /* NULL: it is off */
}

#endif
