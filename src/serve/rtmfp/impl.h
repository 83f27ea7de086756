/* SPDX-License-Identifier: MIT */
/* impl.h - the service of a worker; private to serve/rtmfp. */
#ifndef SERVE_RTMFP_IMPL_H
#define SERVE_RTMFP_IMPL_H

#include "serve/datagram/out.h"
#include "serve/datagram/pass.h"
#include "serve/datagram/slots.h"
#include "serve/datagram/streams.h"
#include "proto/rtmfp/session.h"
#include "serve/rtmfp/rtmfp.h"
#include "session/address_limits.h"

#include <linux/filter.h>

struct rtmfp_peer;
struct rtmfp_directory;  /* directory.h: peers of all workers by id */
struct rtmfp_netgroups;  /* netgroup.h: groups and members of all workers */
struct rtmfp_table;      /* table.h: sessions and handshakes of a worker by address */
struct rtmfp_key_queue; /* keys_queue.h: handshakes that wait for a helper thread */
struct rtmfp_rate;       /* rate.h: rate limits by address */

/* Shared by all workers; fields that change are atomic or have their own lock. */
struct rtmfp_shared {
    struct datagram_shared base;
    uint8_t master[RTMFP_MASTER];    /* secret for cookies */
    struct rtmfp_identity identity;  /* our certificate, one per process */
    struct rtmfp_rate *startups;     /* rate of startup packets */
    struct rtmfp_rate *introductions;        /* rate of introductions */
    atomic_uint sessions;            /* including those whose keys are being made, without lingering
                                      * ones */
    struct rtmfp_directory *directory;
    struct rtmfp_netgroups *netgroups;
};

/* Ended sessions may linger until their peers know; they count only towards this limit per worker.
 * Sessions over the limit are forgotten at once. */
enum { RTMFP_LINGER_MAX = 4096 };

struct rtmfp_endpoint {
    struct datagram_endpoint base;
    struct rtmfp_service *service;
    struct datagram_out out;
};

/* Functions that files above peer.c provide for a session. Only end() yields. */
struct rtmfp_peer_ops {
    void (*closing)(struct rtmfp_peer *p); /* the session is about to end: no peer finds it any
                                           * more */
    /* Ends all streams, then the connection. Returns true if nothing is left. May be called again.
     * `why` is borrowed. Yields. */
    bool (*end)(struct rtmfp_peer *p, err_t why);
    void (*flushed)(struct rtmfp_peer *p); /* everything was sent */
};

struct rtmfp_service {
    struct datagram_service base;
    const struct rtmfp_peer_ops *peer_ops;
    struct rtmfp_shared *shared;     /* same as base.shared */
    struct rtmfp_responder responder;
    struct rtmfp_response response;  /* result of the current packet */
    struct rtmfp_session_set *set;   /* all sessions of this worker */
    struct rtmfp_cipher *cipher;     /* for sessions without their own */
    struct datagram_slots slots;     /* sessions by the ids we assigned */
    struct rtmfp_table *table;
    struct rtmfp_key_queue *keys;
    struct address_slot place;        /* slot of the handshake that may_open() admitted */
    uint8_t plain[RTMFP_DATAGRAM_MAX]; /* buffer of the current packet */
    bool ends;                       /* ended sessions do not linger any more */
    unsigned leaving;                /* sessions about to end or lingering */
    unsigned lingering;              /* ended ones only, at most RTMFP_LINGER_MAX */
    struct rtmfp_peer *touched, **touched_end; /* sessions to flush at the end of this turn */
    struct co_task turn;             /* flushes them outside of batches */
    struct datagram_streams streams; /* streams with players: stream.c */
    struct rtmfp_session_sums sums;  /* sums over all sessions of the set so far */
    struct rtmfp_service_stat stat;  /* counters kept only here */
};

/* ---- endpoint.c: functions of rtmfp_protocol */
struct datagram_endpoint *rtmfp_endpoint_new(struct datagram_service *service);
struct udp_opts rtmfp_endpoint_opts(const struct conf *conf);
void rtmfp_endpoint_closing(struct datagram_endpoint *e);
void rtmfp_endpoint_input(struct datagram_endpoint *e, const struct udp_in *in, unsigned via,
                          co_usec now);
void rtmfp_endpoint_end_batch(struct datagram_endpoint *e);

/* Returns a buffer of RTMFP_SEALED_MAX bytes in the output queue; the caller then calls put() with
 * the size, 0 to discard it. Does not yield. */
static inline uint8_t *rtmfp_endpoint_room(struct rtmfp_endpoint *e)
{
    return datagram_out_room(&e->out, RTMFP_SEALED_MAX);
}
static inline void rtmfp_endpoint_put(struct rtmfp_endpoint *e, size_t size,
                                      const struct udp_path *path)
{
    datagram_out_put(&e->out, size, path);
}

/* Builds the BPF program that selects the socket of a group (one per worker) for a datagram: the
 * low part of the session id names the worker ([RTMFP] 2.2.2). Session 0 is a handshake; the
 * kernel selects by address, so a whole handshake reaches one worker. Returns the length of the
 * program. */
enum { RTMFP_DISPATCH_STEPS = 11 };
unsigned rtmfp_dispatch_program(struct sock_filter out[RTMFP_DISPATCH_STEPS], unsigned workers);

/* ---- startup.c: a datagram to session 0 */
extern const struct rtmfp_responder_ops rtmfp_startup_ops; /* their `arg` is the service */
void rtmfp_startup_take(struct rtmfp_endpoint *e, const struct udp_in *in, co_usec now);

#endif
