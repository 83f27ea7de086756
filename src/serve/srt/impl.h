/* SPDX-License-Identifier: MIT */
/* impl.h - the service of a worker, for the files of serve/srt alone. */
#ifndef SERVE_SRT_IMPL_H
#define SERVE_SRT_IMPL_H

#include "serve/srt/callers.h"
#include "serve/srt/gate.h"
#include "serve/srt/slots.h"
#include "session/peers.h"
#include "session/workers.h"

enum { SRT_KEY_JOBS = 64, SRT_MAILS = 256 };

/* Of all workers: whatever changes is atomic, or has a lock of its own. */
struct srt_shared {
    atomic_uint refs;
    uint8_t cookie_key[SRT_COOKIE_KEY];
    struct peers *peers;       /* connections of SRT by address */
    atomic_uint connections;   /* those that wait included */
    atomic_uint key_jobs;      /* waiting, or under way */
    atomic_uint mails[WORKERS_MAX]; /* datagrams on their way to that worker */
};

void srt_shared_unref(struct srt_shared *s);

/* Datagrams to go out, together: control packets of a batch, or of timers. */
enum { SRT_OUT = 64, SRT_OUT_BYTES = 16 * 1024 };
struct srt_out {
    unsigned n;
    size_t used;
    struct udp_path paths[SRT_OUT];
    struct iovec iov[SRT_OUT];
    uint8_t bytes[SRT_OUT_BYTES];
};

/* Streams that somebody plays: stream.c. Begins zeroed. */
struct srt_streams {
    struct srt_stream *v[64];
    unsigned n;
    bool looks;
    struct srt_burst *burst;
};

struct srt_endpoint {
    struct srt_service *service;
    struct udp *socket;
    unsigned number;           /* of it among those of the configuration */
    struct srt_peer *touched;  /* in this batch */
    struct srt_out out;
    struct co_task flush;
};

struct srt_service {
    struct session_env *env;
    struct srt_shared *shared;
    struct srt_endpoint *endpoints;
    unsigned n_endpoints;
    unsigned peers;            /* in all states */
    bool refuses, ending;
    struct srt_slots slots;
    struct srt_callers callers;
    struct srt_gate gate;
    struct srt_streams streams;
    struct co_group group;     /* readers, and who sees players out */
    struct co *ender;          /* of group: leave.c */
    struct srt_peer *leaving, **leaving_end;
    struct co *waiter;         /* until all have gone */
    struct srt_service_stat stat; /* what ended; and what is counted here alone */
};

/* ---- endpoint.c */
err_t srt_endpoint_open(struct srt_endpoint *e, int fd) __attribute__((warn_unused_result));
void srt_endpoint_close(struct srt_endpoint *e);
err_t srt_endpoint_main(void *endpoint); /* co_fn: its reader */
/* Queue a datagram, to go out soon: with others of this batch. */
void srt_endpoint_send(struct srt_endpoint *e, const struct udp_path *path, const void *data,
                       size_t size);
/* A datagram that another worker got for this one, or the reader. */
void srt_endpoint_input(struct srt_endpoint *e, const struct udp_in *in);
void srt_endpoint_end_batch(struct srt_endpoint *e);

/* ---- pass.c: a datagram that came here and is another worker's */
void srt_pass(struct srt_endpoint *e, unsigned worker, const struct udp_in *in);

/* ---- greet.c */
void srt_greet(struct srt_endpoint *e, const struct udp_in *in, const struct srt_packet *p);
/* To a caller that was never let in; counted and remembered. */
void srt_refuse(struct srt_endpoint *e, const struct udp_path *path,
                const struct srt_handshake *h, uint32_t code);

/* ---- peer.c */
struct srt_peer *srt_peer_new(struct srt_endpoint *e, const struct udp_in *in,
                              const struct srt_handshake *h);
/* It has an id here, and is known as a caller. False: there are no more ids. */
bool srt_peer_enter(struct srt_peer *p, struct srt_service *s);
void srt_peer_part(struct srt_peer *p); /* it has neither any more */
void srt_peer_let_in(struct srt_peer *p); /* what it said is not needed any more */
void srt_peer_free(struct srt_peer *p);
/* What it counted, added to what the service did. */
void srt_peer_sum(const struct srt_peer *p, struct srt_service_stat *out);

/* ---- leave.c */
err_t srt_leave_main(void *service); /* co_fn: sees players out */
/* The peer is told, and who waits for the service to end; it is freed. Yields. */
void srt_peer_gone(struct srt_peer *p, err_t why); /* takes over why */

#endif
