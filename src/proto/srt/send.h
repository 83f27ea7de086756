/* SPDX-License-Identifier: MIT */
/* send.h - SRT sender: sends the packets of a log to one receiver, and retransmits.
 *
 *     srt_sender_init(&s, &opts);
 *     while (srt_sender_output(&s, &burst, now)) send it in one call
 *     srt_sender_ack(), _nak(), as they arrive
 *
 * The state about losses is bounded: beyond SRT_RETRANSMITS ranges the sender relies on the next
 * NAK, because receivers repeat the list of all missing packets. The record of recent
 * retransmissions is bounded too. Payloads are not copied, except that encryption writes into the
 * burst. No I/O, does not yield.
 */
#ifndef PROTO_SRT_SEND_H
#define PROTO_SRT_SEND_H

#include "proto/srt/crypt.h"
#include "proto/srt/log.h"

#include <sys/uio.h>

enum { SRT_BURST = 44, SRT_RETRANSMITS = 32, SRT_RECENT = 64 };

/* Packets to send with one call, all of the same size except that the last may be shorter. One per
 * thread: valid until the next output. */
struct srt_burst {
    unsigned packets;
    int pieces;               /* number of entries in iov: a header and a payload per packet */
    size_t segment, bytes;    /* bytes of one packet; bytes of all packets */
    struct iovec iov[2 * SRT_BURST];
    uint8_t headers[SRT_BURST][SRT_HEADER];
    uint8_t scratch[SRT_BURST][SRT_PAYLOAD_MAX]; /* encrypted payloads, drop requests */
};

struct srt_sender_opts {
    const struct srt_log *log;
    uint64_t from;            /* number in the log to start at */
    bool lead;                /* send the log's current tables before it */
    uint32_t peer_id, first_seq;
    co_usec zero;             /* time of timestamp 0; packets due earlier have timestamp 0 too */
    co_usec latency;          /* latency of the peer as receiver */
    uint64_t maxbw; /* bytes per second, including retransmissions; 0: 25 % more than the log */
    unsigned window;          /* most packets in flight */
    struct srt_cipher *cipher; /* owned by the connection; NULL: no encryption */
};

struct srt_sender_stat {
    uint64_t sent, retransmitted, lost, dropped; /* packets: first transmissions, retransmissions,
                                             * reported lost, given up */
    uint64_t bytes;           /* bytes of datagrams */
    unsigned in_flight;       /* sent and not acknowledged */
    uint64_t skips;           /* times that the peer was too slow and continued at a key frame */
};

struct srt_sender {
    struct srt_sender_opts set;
    struct srt_sender_stat stat;
    /* Packets of this connection count from 0. The sequence number is the sum with first_seq; the
     * number in the log is the sum with `base` (modulo 2^64), which a skip changes. */
    uint64_t next, acked;     /* next packet to send; oldest unacknowledged packet */
    enum srt_key key;         /* current key, set by the connection */
    bool skip_due;            /* send nothing before the next key frame */
    /* private to send.c */
    bool stalled;             /* the peer acknowledges nothing, so nothing new is sent */
    bool paces;               /* catching up: old packets are sent at a limited pace */
    uint8_t ackacks;          /* number of the first ten */
    uint64_t base;
    uint64_t high, floor;     /* end of the packets ever sent; packets before floor are no longer
                               * available in the log */
    uint64_t lead, lead_at;   /* tables of the log, 0: none; their packet number */
    uint64_t drop, drop_end;  /* range of a pending drop request */
    uint64_t counted;         /* end of the packets counted as dropped */
    co_usec rtt, variance, fresh_at, lead_due, progress_at, wake_at, paced_at;
    co_usec tokens_at, probe_at, ackack_at;
    int64_t tokens;
    uint32_t ack_number, room;
    unsigned n_retransmits;
    struct srt_retransmit {
        uint16_t first, count;   /* low 16 bits of the packet number */
    } retransmits[SRT_RETRANSMITS];
    struct srt_recent {
        uint16_t packet, at;     /* low 16 bits of the packet number; time in units of 1024 us */
    } recent[SRT_RECENT]; /* last retransmissions; the index is the packet number modulo the size */
};

void srt_sender_init(struct srt_sender *s, const struct srt_sender_opts *opts);
/* Fills a burst. Returns false if nothing can be sent now. */
bool srt_sender_output(struct srt_sender *s, struct srt_burst *out, co_usec now);
/* Returns when to call output again if nothing arrives and nothing is appended. */
static inline co_usec srt_sender_deadline(const struct srt_sender *s)
{
    return s->wake_at;
}
/* Whether the peer accepts nothing new: its window is full, or it acknowledges nothing. */
bool srt_sender_is_full(const struct srt_sender *s);
/* Returns the number in the log of the next packet, or of the one after the tables. */
static inline uint64_t srt_sender_number(const struct srt_sender *s)
{
    return s->next + s->base + (s->lead && s->next == s->lead_at ? 1 : 0);
}
/* Return false if the peer refers to packets that were never sent: it is hostile. */
bool srt_sender_ack(struct srt_sender *s, const struct srt_ack *a, co_usec now);
bool srt_sender_nak(struct srt_sender *s, const uint8_t *body, size_t size, co_usec now);
/* Whether this ACK needs an ACKACK: the first ten, then one per 100 ms, and retransmitted ones. */
bool srt_sender_wants_ackack(struct srt_sender *s, uint32_t number, co_usec now);

#endif
