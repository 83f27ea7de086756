/* SPDX-License-Identifier: MIT */
/* send.h - one who is sent the packets of a log: a cursor, sums, and what is to be repeated.
 *
 *     srt_sender_init(&s, &opts);
 *     while (srt_sender_output(&s, &burst, now)) send it in one call
 *     srt_sender_ack(), _nak(), as they come
 *
 * What NAKs name is bounded: beyond SRT_REPEATS ranges it is left to the next one, as a receiver
 * lists all that it misses again and again. So is what is known of repeats under way.
 *
 * Nothing of a payload is copied, but where it is encrypted, into the burst. No I/O, never yields.
 */
#ifndef PROTO_SRT_SEND_H
#define PROTO_SRT_SEND_H

#include "proto/srt/crypt.h"
#include "proto/srt/log.h"

#include <sys/uio.h>

enum { SRT_BURST = 44, SRT_REPEATS = 32, SRT_RECENT = 64 };

/* What goes out by one call: packets of one size each, the last one may be shorter. One for all of
 * a thread: it is valid until the next output. */
struct srt_burst {
    unsigned packets;
    int pieces;               /* of iov: a header and a payload for each packet */
    size_t segment, bytes;    /* of a packet; of all together */
    struct iovec iov[2 * SRT_BURST];
    uint8_t headers[SRT_BURST][SRT_HEADER];
    uint8_t scratch[SRT_BURST][SRT_PAYLOAD_MAX]; /* what is encrypted, drop requests */
};

struct srt_sender_opts {
    const struct srt_log *log;
    uint64_t from;            /* number of the log that it begins with */
    bool lead;                /* the log's tables of now go in front of that */
    uint32_t peer_id, first_seq;
    co_usec zero;             /* when its timestamps are 0; what became due before has 0, too */
    co_usec latency;          /* the peer's as receiver */
    uint64_t maxbw;           /* bytes a second, repeats included; 0: a quarter more than the log */
    unsigned window;          /* packets that may be under way, at most */
    struct srt_cipher *cipher; /* NULL: in the clear; the connection's */
};

struct srt_sender_stat {
    uint64_t sent, repeated, lost, dropped; /* packets: first sendings, repeats, that NAKs named,
                                             * that were given up */
    uint64_t bytes;           /* of datagrams */
    unsigned in_flight;       /* sent and not acknowledged */
    uint64_t skips;           /* times that it was too slow and went on at a key frame */
};

struct srt_sender {
    struct srt_sender_opts set;
    struct srt_sender_stat stat;
    /* Packets of this connection, from 0: a sequence is first_seq more, a number of the log is
     * `base` more (modulo 2^64), which a skip changes. */
    uint64_t next, acked;     /* to be sent next; the oldest that is not acknowledged */
    enum srt_key key;         /* what it encrypts with from now on: the connection says so */
    bool skip_due;            /* nothing more but from a key frame on, the next one that is there */
    /* send.c's own */
    bool stalled;             /* nothing is acknowledged: nothing new is sent */
    bool paces;               /* what is sent is old: it catches up */
    uint8_t ackacks;          /* of the first ten */
    uint64_t base;
    uint64_t high, floor;     /* never sent from here on; of another log or place below */
    uint64_t lead, lead_at;   /* tables of the log, 0: none; which packet they are */
    uint64_t drop, drop_end, told; /* a drop request is due for these; those up to here count */
    co_usec rtt, variance, fresh_at, lead_due, progress_at, again_at, paced_at;
    co_usec tokens_at, probe_at, ackack_at;
    int64_t tokens;
    uint32_t ack_number, room;
    unsigned n_repeats;
    struct srt_retransmit {
        uint16_t first, count;   /* low bits of the packet's number */
    } repeats[SRT_REPEATS];
    struct srt_recent {
        uint16_t packet, at;     /* low bits; 1/1000 s or so */
    } recent[SRT_RECENT];        /* when a packet was repeated: its place is its number modulo */
};

void srt_sender_init(struct srt_sender *s, const struct srt_sender_opts *opts);
/* False: nothing is to be sent now. */
bool srt_sender_output(struct srt_sender *s, struct srt_burst *out, co_usec now);
/* When it wants to be asked again though nothing came and nothing was appended. */
static inline co_usec srt_sender_deadline(const struct srt_sender *s)
{
    return s->again_at;
}
/* The peer takes nothing new now: its window is full, or it acknowledges nothing. */
bool srt_sender_is_full(const struct srt_sender *s);
/* The number of the log that it sends next, or behind tables. */
static inline uint64_t srt_sender_number(const struct srt_sender *s)
{
    return s->next + s->base + (s->lead && s->next == s->lead_at ? 1 : 0);
}
/* False: it speaks of what was never sent, it is hostile. */
bool srt_sender_ack(struct srt_sender *s, const struct srt_ack *a, co_usec now);
bool srt_sender_nak(struct srt_sender *s, const uint8_t *body, size_t size, co_usec now);
/* Is this ACK to be answered? The first ten, then one in 100 ms, and one that came before. */
bool srt_sender_wants_ackack(struct srt_sender *s, uint32_t number, co_usec now);

#endif
