/* SPDX-License-Identifier: MIT */
/* conn.h - a connection after its handshake, one that sends or one that receives: what comes goes
 * to the right part, keepalives, idle peers, new keys, the end. No I/O, nothing yields.
 *
 * The listener of the server, its callers and the load tool all use it.
 */
#ifndef PROTO_SRT_CONN_H
#define PROTO_SRT_CONN_H

#include "proto/srt/handshake.h"
#include "proto/srt/recv.h"
#include "proto/srt/send.h"

enum srt_end {
    SRT_OPEN,
    SRT_ENDED_SHUTDOWN,  /* the peer said so */
    SRT_ENDED_IDLE,      /* nothing came for peer_idle_timeout */
    SRT_ENDED_HOSTILE,   /* it spoke of what cannot be */
    SRT_ENDED_STUCK,     /* tlpktdrop is off, and a gap was not filled before the buffer was */
};

struct srt_conn {
    struct srt_agreed agreed;
    enum srt_end end;
    co_usec zero;             /* of our clock on the wire */
    co_usec heard_at, sent_at, idle_timeout;
    bool sends;               /* else it receives */
    bool drop_late;
    struct srt_sender sender;
    struct srt_receiver *receiver;
    struct srt_cipher *cipher;
    struct srt_secret *secret; /* NULL: in the clear */
    /* conn.c's own */
    struct srt_conn_answers *answers; /* what is to be sent at once */
    uint64_t ignored;         /* packets of no use */
};

struct srt_conn_opts {
    struct srt_agreed agreed;
    co_usec now, peer_zero;   /* peer_zero: arrival of its handshake - the timestamp in it */
    co_usec zero, idle_timeout;
    struct srt_secret *secret; /* malloc'ed, taken over; NULL: in the clear */
    bool tsbpd, drop_late;
    /* of one that sends: */
    const struct srt_log *log;
    uint64_t from, maxbw;
    bool lead;                /* the log's tables of now go in front of `from` */
    /* New keys after so many packets, announced so long before; 0: 2^24, 4,000. */
    uint64_t renew_after, renew_before;
};

/* False: there is no memory. */
bool srt_conn_send_begin(struct srt_conn *c, const struct srt_conn_opts *o);
bool srt_conn_receive_begin(struct srt_conn *c, const struct srt_conn_opts *o);
void srt_conn_fini(struct srt_conn *c);
/* Before that, again and again while it is true: it frees some of what it has. */
static inline bool srt_conn_drain(struct srt_conn *c)
{
    return c->receiver && srt_receiver_drain(c->receiver);
}

/* A datagram that is for it, from its address. */
void srt_conn_input(struct srt_conn *c, const struct srt_packet *p, co_usec now);
/* Control packets that are to be sent now, one at a time; 0: none. Shutdown is said three times. */
size_t srt_conn_control(struct srt_conn *c, uint8_t out[SRT_PACKET_MAX], co_usec now);
/* Data: of one that sends. */
bool srt_conn_burst(struct srt_conn *c, struct srt_burst *out, co_usec now);
/* Data that is due: of one that receives. */
static inline bool srt_conn_next(struct srt_conn *c, struct srt_message *m, co_usec now)
{
    return srt_receiver_next(c->receiver, m, now);
}
co_usec srt_conn_deadline(const struct srt_conn *c); /* of all of the above */
/* Shutdown from our side, by the next three of srt_conn_control(); whatever comes is dropped. */
void srt_conn_close(struct srt_conn *c);

#endif
