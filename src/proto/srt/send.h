/* SPDX-License-Identifier: MIT */
/* send.h - one who is sent the packets of a log: a cursor, sums, and what is to be repeated.
 *
 *     srt_sender_init(&s, &opts);
 *     while (srt_sender_output(&s, &burst, now)) send it in one call
 *     srt_sender_ack(), _nak(), as they come
 *
 * Nothing of a payload is copied, but where it is encrypted, into the burst. No I/O, never yields.
 */
#ifndef PROTO_SRT_SEND_H
#define PROTO_SRT_SEND_H

#include "proto/srt/crypt.h"
#include "proto/srt/log.h"

#include <sys/uio.h>

enum { SRT_BURST = 44, SRT_REPEATS = 32 };

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
    uint32_t peer_id, first_seq;
    co_usec zero;             /* when its timestamps are 0 */
    co_usec latency;          /* the peer's as receiver */
    uint64_t maxbw;           /* bytes a second, repeats included */
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
    uint64_t next, acked;     /* numbers of the log, plus what was skipped: see `base` */
    /* send.c's own; may change */
    uint64_t base;            /* what to subtract of a number for a sequence: grows by skips */
    co_usec rtt, variance, acked_at, sent_at, tokens_at;
    int64_t tokens;
    bool stalled, skip_due;
    enum srt_key key;
    uint64_t renew_at;
    struct srt_range repeats[SRT_REPEATS], drop;
    unsigned n_repeats;
};

void srt_sender_init(struct srt_sender *s, const struct srt_sender_opts *opts);
/* False: nothing is to be sent now. */
bool srt_sender_output(struct srt_sender *s, struct srt_burst *out, co_usec now);
/* When it wants to be asked again though nothing came and nothing was appended. */
co_usec srt_sender_deadline(const struct srt_sender *s);
/* False: it speaks of what was never sent, it is hostile. */
bool srt_sender_ack(struct srt_sender *s, const struct srt_ack *a, co_usec now);
bool srt_sender_nak(struct srt_sender *s, const uint8_t *body, size_t size, co_usec now);
/* Is this ACK to be answered? The first ten, then one in 100 ms, and one that came before. */
bool srt_sender_wants_ackack(struct srt_sender *s, uint32_t number, co_usec now);
/* Somebody made a new log of the same stream (its publisher changed): go on there. */
void srt_sender_relog(struct srt_sender *s, const struct srt_log *log, uint64_t from);

#endif
