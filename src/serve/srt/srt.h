/* SPDX-License-Identifier: MIT */
/* srt.h - SRT: publishers and players over one UDP socket of a worker for each endpoint.
 *
 * A reader coroutine for each socket hands packets to their connections by the id in them. A
 * connection has no descriptor; a player has no coroutine either, all players of a stream are
 * served by one walk (stream.h). Where there are several workers the low bits of an id name the
 * worker, and the kernel gives each its own (section "Protocols over UDP" of doc/architecture.md).
 *
 * All of this is of one worker's thread.
 */
#ifndef SERVE_SRT_SRT_H
#define SERVE_SRT_SRT_H

#include "session/env.h"
#include "proto/srt/handshake.h"

struct srt_service; /* of one worker */
struct session;
struct clients_srt;
struct udp;

/* The sockets of all workers for the endpoints of a configuration: opened by the first worker, in
 * their order, before the others run; -1 where there are none. */
struct srt_shared; /* what the services of all workers have in common */
struct srt_sockets {
    size_t n;       /* endpoints */
    unsigned workers;
    int *fds;       /* [endpoint * workers + worker] */
    struct srt_shared *shared;
};
err_t srt_sockets_open(struct srt_sockets **out, const struct conf *conf, unsigned workers)
    __attribute__((warn_unused_result));
void srt_sockets_close(struct srt_sockets *s); /* those that nobody took; NULL is fine */

/* Take this worker's sockets and read. env->srt is it. */
err_t srt_service_new(struct srt_service **out, struct session_env *env, struct srt_sockets *s)
    __attribute__((warn_unused_result));
/* Callers are refused from now on (SRT_REFUSED_CLOSING); who is connected stays. NULL is fine. */
void srt_service_refuse(struct srt_service *s);
/* All connections are told to end; waits until they have. Yields. NULL is fine. */
void srt_service_free(struct srt_service *s);
void srt_service_reload(struct srt_service *s); /* env->conf is another one; NULL is fine */

struct srt_service_stat { /* words alone, of which all are sums */
    uint64_t connections, publishers, players, waiting; /* waiting: to be let in */
    uint64_t handshakes, dropped;    /* conclusions; those over the rate of an address */
    uint64_t inductions, bad_cookies;
    uint64_t strangers;              /* packets of no connection, or not from its address */
    uint64_t key_jobs, key_refused;
    uint64_t refused[SRT_REFUSAL_KINDS]; /* by their places */
    /* of all connections there were */
    uint64_t received, received_bytes, recv_lost, recv_dropped, recv_repeated, belated, undecrypted;
    uint64_t sent, sent_bytes, send_lost, send_dropped, send_repeated;
    uint64_t in, in_calls, out, out_calls, overflow; /* datagrams of the sockets */
};
void srt_service_stat(const struct srt_service *s, struct srt_service_stat *out);

/* What a list shows of one client: session.srt of all of them. */
bool srt_peer_tell(const struct session *s, struct clients_srt *out);

#endif
