/* SPDX-License-Identifier: MIT */
/* impl.h - the service of a worker, for the files of serve/srt alone. */
#ifndef SERVE_SRT_IMPL_H
#define SERVE_SRT_IMPL_H

#include "serve/datagram/out.h"
#include "serve/datagram/pass.h"
#include "serve/datagram/slots.h"
#include "serve/srt/callers.h"
#include "session/admission_queue.h"

#include <linux/filter.h>

enum { SRT_KEY_JOBS = 64, SRT_GATES = 1024, SRT_GATE_MOST = 8 };

/* Of all workers: whatever changes is atomic, or has a lock of its own. */
struct srt_shared {
    struct datagram_shared base;
    uint8_t cookie_key[SRT_COOKIE_KEY];
    atomic_uint connections;   /* those that wait included */
    atomic_uint key_jobs;      /* waiting, or under way */
};

struct srt_endpoint {
    struct datagram_endpoint base;
    struct srt_service *service;
    struct srt_peer *touched;  /* in this batch */
    struct datagram_out out;   /* control packets of a batch, or of timers */
};

struct srt_service {
    struct datagram_service base;
    struct srt_shared *shared; /* that of base */
    struct datagram_slots slots;
    struct srt_callers callers;
    struct admission_queue gates[SRT_GATES]; /* of callers, by a hash of their address */
    struct datagram_streams streams; /* stream.c */
    struct srt_service_stat stat; /* what ended; and what is counted here alone */
};

/* ---- endpoint.c: of srt_protocol */
struct datagram_endpoint *srt_endpoint_new(struct datagram_service *service);
struct udp_opts srt_endpoint_opts(const struct conf *conf);
void srt_endpoint_closing(struct datagram_endpoint *e);
/* A datagram that another worker got for this one, or the reader; then the end of all of a turn. */
void srt_endpoint_input(struct datagram_endpoint *e, const struct udp_in *in, unsigned via,
                        co_usec now);
void srt_endpoint_end_batch(struct datagram_endpoint *e);

/* Which socket of a group of so many, one for each worker, gets a datagram: the low part of the id
 * in it names the worker. A handshake has no id of ours yet: the caller's own is taken, so its
 * repeats come to the same worker. Returns how many steps it has. */
enum { SRT_DISPATCH_STEPS = 5 };
unsigned srt_dispatch_program(struct sock_filter out[SRT_DISPATCH_STEPS], unsigned workers);

/* ---- handshake.c */
void srt_handshake_input(struct srt_endpoint *e, const struct udp_in *in,
                         const struct srt_packet *p);

/* ---- peer.c */
struct srt_peer *srt_peer_new(struct srt_endpoint *e, const struct udp_in *in,
                              const struct srt_handshake *h);
/* It has an id here, and is known as a caller. False: there are no more ids. */
bool srt_peer_enter(struct srt_peer *p, struct srt_service *s);
void srt_peer_part(struct srt_peer *p); /* it has neither any more */
void srt_peer_admitted(struct srt_peer *p); /* its request is not needed any more */
void srt_peer_free(struct srt_peer *p);
/* What it counted, added to what the service did. */
void srt_peer_sum(const struct srt_peer *p, struct srt_media_stat *sum);

/* The end of one that was admitted: a shutdown to its peer, its last log line; it is freed. Takes
 * over why. Yields. */
void srt_peer_close(struct srt_peer *p, err_t why);

/* ---- send.c */
/* Queue a datagram, to go out soon: with others of this batch. */
void srt_endpoint_send(struct srt_endpoint *e, const struct udp_path *path, const void *data,
                       size_t size);

/* ---- stream.c */
/* That of the source, made if there is none; with a reference for the caller. */
struct datagram_stream *srt_stream_get(struct srt_service *s, struct live_source *src);
struct srt_wire *srt_stream_wire(struct datagram_stream *st);
/* A publisher relays its packets to the wire; or no longer. */
void srt_stream_relay_begin(struct datagram_stream *st);
void srt_stream_relay_end(struct datagram_stream *st);
/* A player of p->base.stream, with its play.every and the latency agreed on: it is served while it
 * is active. Neither yields. */
void srt_stream_add(struct srt_peer *p);
void srt_stream_remove(struct srt_peer *p); /* fine if it was not added */

#endif
