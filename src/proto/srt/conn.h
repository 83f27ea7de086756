/* SPDX-License-Identifier: MIT */
/* conn.h - an SRT connection after its handshake, either sending or receiving: dispatches packets,
 * sends keepalives, detects idle peers, renews keys, and closes. No I/O, does not yield.
 *
 * Used by the server's listener, its callers and the load tool.
 */
#ifndef PROTO_SRT_CONN_H
#define PROTO_SRT_CONN_H

#include "proto/srt/handshake.h"
#include "proto/srt/recv.h"
#include "proto/srt/send.h"

enum srt_end {
    SRT_OPEN,
    SRT_ENDED_SHUTDOWN,  /* the peer sent a shutdown */
    SRT_ENDED_IDLE,      /* nothing was received for the idle timeout */
    SRT_ENDED_HOSTILE,   /* the peer violated the protocol */
    SRT_ENDED_STUCK,     /* tlpktdrop is off, and a gap was not filled before the buffer was full */
};

struct srt_conn {
    struct srt_agreed agreed;
    enum srt_end end;
    co_usec zero;             /* time at which our clock on the wire is 0 */
    co_usec received_at, sent_at, idle_timeout;
    bool sends;               /* sends; otherwise it receives */
    bool drop_late;
    struct srt_sender sender;
    struct srt_receiver *receiver;
    struct srt_cipher *cipher;
    struct srt_secret *secret; /* NULL: no encryption */
    /* private to conn.c */
    struct srt_conn_pending *pending; /* pending responses */
    uint64_t ignored;         /* useless packets */
};

struct srt_conn_opts {
    struct srt_agreed agreed;
    co_usec now, peer_zero;   /* peer_zero: arrival time of the peer's handshake minus its
                               * timestamp */
    co_usec zero, idle_timeout;
    struct srt_secret *secret; /* malloc'ed, taken over; NULL: no encryption */
    bool tsbpd, drop_late;
    /* only for a sender: */
    const struct srt_log *log;
    uint64_t from, maxbw;
    bool lead;                /* send the log's current tables before `from` */
    /* Renew the key after this many packets, announcing it this many packets before; 0: 2^24,
     * 4,000. */
    uint64_t renew_after, renew_before;
};

/* Return false if memory allocation fails. */
bool srt_conn_send_begin(struct srt_conn *c, const struct srt_conn_opts *o);
bool srt_conn_receive_begin(struct srt_conn *c, const struct srt_conn_opts *o);
void srt_conn_fini(struct srt_conn *c);
/* Frees part of the memory; call it until it returns false, before srt_conn_fini(). */
static inline bool srt_conn_drain(struct srt_conn *c)
{
    return c->receiver && srt_receiver_drain(c->receiver);
}

/* Handles a datagram of this connection, from its peer's address. */
void srt_conn_input(struct srt_conn *c, const struct srt_packet *p, co_usec now);
/* Writes the next control packet that is due; returns its size, or 0 if there is none. A shutdown
 * is sent three times. */
size_t srt_conn_control(struct srt_conn *c, uint8_t out[SRT_PACKET_MAX], co_usec now);
/* Fills a burst with data to send; only for senders. */
bool srt_conn_burst(struct srt_conn *c, struct srt_burst *out, co_usec now);
/* Returns the data that is due; only for receivers. */
static inline bool srt_conn_next(struct srt_conn *c, struct srt_message *m, co_usec now)
{
    return srt_receiver_next(c->receiver, m, now);
}
/* Returns when to call the functions above next. */
co_usec srt_conn_deadline(const struct srt_conn *c);
/* Closes from our side: the next three calls of srt_conn_control() send shutdowns. Received packets
 * are dropped. */
void srt_conn_close(struct srt_conn *c);

#endif
