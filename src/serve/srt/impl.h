/* SPDX-License-Identifier: MIT */
/* impl.h - the service of a worker; private to serve/srt. */
#ifndef SERVE_SRT_IMPL_H
#define SERVE_SRT_IMPL_H

#include "serve/datagram/out.h"
#include "serve/datagram/pass.h"
#include "serve/datagram/slots.h"
#include "serve/srt/callers.h"
#include "session/admission_queue.h"

#include <linux/filter.h>

enum { SRT_KEY_JOBS = 64, SRT_GATES = 1024, SRT_GATE_MOST = 8 };

/* Shared by all workers: mutable members are atomic or have their own lock. */
struct srt_shared {
    struct datagram_shared base;
    uint8_t cookie_key[SRT_COOKIE_KEY];
    atomic_uint connections;   /* including waiting callers */
    atomic_uint key_jobs;      /* waiting and running key derivations */
};

struct srt_endpoint {
    struct datagram_endpoint base;
    struct srt_service *service;
    struct srt_peer *touched;  /* clients with packets in this batch */
    struct datagram_out out;   /* control packets of a batch, or of timers */
};

struct srt_service {
    struct datagram_service base;
    struct srt_shared *shared; /* the same as in base */
    struct datagram_slots slots;
    struct srt_callers callers;
    struct admission_queue gates[SRT_GATES]; /* per hash of the caller's address */
    struct datagram_streams streams; /* stream.c */
    struct srt_service_stat stat; /* counters of ended connections, and of the service itself */
};

/* ---- endpoint.c: functions of srt_protocol */
struct datagram_endpoint *srt_endpoint_new(struct datagram_service *service);
struct udp_opts srt_endpoint_opts(const struct conf *conf);
void srt_endpoint_closing(struct datagram_endpoint *e);
/* Handles a datagram from the reader or from another worker; then the end of a batch. */
void srt_endpoint_input(struct datagram_endpoint *e, const struct udp_in *in, unsigned via,
                        co_usec now);
void srt_endpoint_end_batch(struct datagram_endpoint *e);

/* Writes the program that selects the worker's socket for a datagram and returns its length: the
 * low part of the destination id names the worker. A handshake has no such id yet, so the caller's
 * own id is used, and repeats arrive at the same worker. */
enum { SRT_DISPATCH_STEPS = 5 };
unsigned srt_dispatch_program(struct sock_filter out[SRT_DISPATCH_STEPS], unsigned workers);

/* ---- handshake.c */
void srt_handshake_input(struct srt_endpoint *e, const struct udp_in *in,
                         const struct srt_packet *p);

/* ---- peer.c */
struct srt_peer *srt_peer_new(struct srt_endpoint *e, const struct udp_in *in,
                              const struct srt_handshake *h);
/* Gives it an id and registers it as a caller. Returns false if there are no more ids. */
bool srt_peer_enter(struct srt_peer *p, struct srt_service *s);
void srt_peer_part(struct srt_peer *p); /* removes both */
void srt_peer_admitted(struct srt_peer *p); /* frees its request */
void srt_peer_free(struct srt_peer *p);
/* Adds its counters to a sum. */
void srt_peer_sum(const struct srt_peer *p, struct srt_media_stat *sum);

/* Ends an admitted client: sends a shutdown, logs the last line and frees it. Takes over `why`.
 * Yields. */
void srt_peer_close(struct srt_peer *p, err_t why);

/* ---- send.c */
/* Queues a datagram to be sent soon, with others of this batch. */
void srt_endpoint_send(struct srt_endpoint *e, const struct udp_path *path, const void *data,
                       size_t size);

/* ---- stream.c */
/* Returns the stream of a source, with a reference for the caller; creates it if needed. */
struct datagram_stream *srt_stream_get(struct srt_service *s, struct live_source *src);
struct srt_wire *srt_stream_wire(struct datagram_stream *st);
/* A publisher starts or stops relaying its packets to the wire. */
void srt_stream_relay_begin(struct datagram_stream *st);
void srt_stream_relay_end(struct datagram_stream *st);
/* Adds a player to p->base.stream, with its play.every and the negotiated latency; it is served
 * while it is active. Neither yields. */
void srt_stream_add(struct srt_peer *p);
void srt_stream_remove(struct srt_peer *p); /* fine if it was not added */

#endif
