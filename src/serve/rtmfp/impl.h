/* SPDX-License-Identifier: MIT */
/* impl.h - the service of a worker, for the files of serve/rtmfp alone. */
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
struct rtmfp_directory;  /* directory.h: peers by their ids, of all workers */
struct rtmfp_netgroups;  /* netgroup.h: groups and their members, of all workers */
struct rtmfp_table;      /* table.h: sessions and handshakes of a worker by their addresses */
struct rtmfp_key_queue; /* keys_queue.h: handshakes that wait for a helper thread */
struct rtmfp_rate;       /* rate.h: how fast an address may be */

/* Of all workers: whatever changes is atomic, or has a lock of its own. */
struct rtmfp_shared {
    struct datagram_shared base;
    uint8_t master[RTMFP_MASTER];    /* of cookies */
    struct rtmfp_identity identity;  /* our certificate: one for the process */
    struct rtmfp_rate *startups;     /* startup packets, the same */
    struct rtmfp_rate *asked;        /* introductions, the same */
    atomic_uint sessions;            /* those whose keys are being made included; none that
                                      * linger */
    struct rtmfp_directory *directory;
    struct rtmfp_netgroups *netgroups;
};

/* Sessions that have ended, and may wait for their peers to know: they count against no limit but
 * this one, of a worker. Any more are forgotten at once. */
enum { RTMFP_LINGER_MAX = 4096 };

struct rtmfp_endpoint {
    struct datagram_endpoint base;
    struct rtmfp_service *service;
    struct datagram_out out;
};

/* What files above peer.c do for a session. None but end() yields. */
struct rtmfp_peer_ops {
    void (*leaves)(struct rtmfp_peer *p); /* it is about to end: no peer finds it any more */
    /* All streams are to end, then what connect has. True: nothing is left. May be called again.
     * `why` is borrowed. Yields. */
    bool (*end)(struct rtmfp_peer *p, err_t why);
    void (*flushed)(struct rtmfp_peer *p); /* it sent all that it had to */
};

struct rtmfp_service {
    struct datagram_service base;
    const struct rtmfp_peer_ops *peer_ops;
    struct rtmfp_shared *shared;     /* that of base */
    struct rtmfp_responder responder;
    struct rtmfp_response response;  /* of the packet that is looked at */
    struct rtmfp_session_set *set;   /* of all sessions of this worker */
    struct rtmfp_cipher *cipher;     /* of those that have none of their own */
    struct datagram_slots slots;     /* sessions by the ids that we gave them */
    struct rtmfp_table *table;
    struct rtmfp_key_queue *keys;
    struct address_slot place;        /* of the handshake that may_open() let in */
    uint8_t plain[RTMFP_DATAGRAM_MAX]; /* of the packet that is looked at */
    bool ends;                       /* sessions do not linger any more */
    unsigned leaving;                /* sessions that are about to end, or linger */
    unsigned lingering;              /* those alone that have ended, RTMFP_LINGER_MAX at most */
    struct rtmfp_peer *touched, **touched_end; /* have something to say when this turn is over */
    struct co_task turn;             /* that, where no batch is read */
    struct datagram_streams streams; /* that somebody plays: stream.c */
    struct rtmfp_session_sums sums;  /* of the set: all sessions there were */
    struct rtmfp_service_stat stat;  /* what is counted here alone */
};

/* ---- endpoint.c: of rtmfp_protocol */
struct datagram_endpoint *rtmfp_endpoint_new(struct datagram_service *service);
struct udp_opts rtmfp_endpoint_opts(const struct conf *conf);
void rtmfp_endpoint_closing(struct datagram_endpoint *e);
void rtmfp_endpoint_input(struct datagram_endpoint *e, const struct udp_in *in, unsigned via,
                          co_usec now);
void rtmfp_endpoint_end_batch(struct datagram_endpoint *e);

/* Room for a datagram of RTMFP_SEALED_MAX, in the queue of what goes out; then put it there with
 * its size, 0: it was none. Does not yield. */
static inline uint8_t *rtmfp_endpoint_room(struct rtmfp_endpoint *e)
{
    return datagram_out_room(&e->out, RTMFP_SEALED_MAX);
}
static inline void rtmfp_endpoint_put(struct rtmfp_endpoint *e, size_t size,
                                      const struct udp_path *path)
{
    datagram_out_put(&e->out, size, path);
}

/* Which socket of a group of so many, one for each worker, gets a datagram: the low part of the
 * session id names the worker ([RTMFP] 2.2.2). Session 0 is a handshake, for which the kernel
 * chooses: by addresses, so all of a handshake comes to one worker. Returns how many steps. */
enum { RTMFP_DISPATCH_STEPS = 11 };
unsigned rtmfp_dispatch_program(struct sock_filter out[RTMFP_DISPATCH_STEPS], unsigned workers);

/* ---- startup.c: a datagram to session 0 */
extern const struct rtmfp_responder_ops rtmfp_startup_ops; /* their `arg` is the service */
void rtmfp_startup_take(struct rtmfp_endpoint *e, const struct udp_in *in, co_usec now);

#endif
