/* SPDX-License-Identifier: MIT */
/* recv.h - one who sends to us: packets in order, at their time; what is missing is asked for.
 *
 * "Acknowledgement and Lost Packet Handling", "Timestamp-Based Packet Delivery", "Too-Late Packet
 * Drop". No I/O, nothing yields. Memory: what arrived and is not delivered, `window` packets at
 * most.
 */
#ifndef PROTO_SRT_RECV_H
#define PROTO_SRT_RECV_H

#include "co/co.h"
#include "proto/srt/crypt.h"

struct srt_receiver_opts {
    uint32_t first_seq, peer_id;
    unsigned window;          /* packets, at most 8192 */
    co_usec base;             /* arrival of the handshake - its timestamp: the peer's zero */
    co_usec zero;             /* ours, for the timestamps of what we send */
    co_usec latency;
    bool tsbpd, drop_late;    /* tsbpdmode, tlpktdrop */
    struct srt_cipher *cipher; /* NULL: in the clear; the connection's */
};

struct srt_receiver_stat {
    uint64_t received, bytes; /* packets of data, repeats and doubles included; bytes of payload */
    uint64_t lost;            /* that a gap told of */
    uint64_t repeated;        /* came with R */
    uint64_t dropped;         /* given up: too late, or the peer said so */
    uint64_t belated;         /* came after that */
    uint64_t doubled, undecrypted, far; /* far: out of the window */
    unsigned held;            /* packets in the buffer */
    co_usec held_time;        /* from the oldest of those to the newest */
    co_usec rtt, variance;
    uint64_t rate, payload_rate; /* packets, bytes a second, lately */
};

/* In order. Valid until the next call. */
struct srt_message {
    const uint8_t *data;
    size_t size;
    co_usec due;              /* its play time */
    bool hole;                /* packets are missing right before it */
};

struct srt_receiver;          /* owned by who made it */
struct srt_receiver *srt_receiver_new(const struct srt_receiver_opts *opts); /* NULL: no memory */
void srt_receiver_free(struct srt_receiver *r);
/* Free some of the packets that it has; it is only to be freed then. False: there are none. */
bool srt_receiver_drain(struct srt_receiver *r);
/* A data packet came. False: it is hostile or nonsense for so long that the connection ends. */
bool srt_receiver_put(struct srt_receiver *r, const struct srt_packet *p, co_usec now);
bool srt_receiver_next(struct srt_receiver *r, struct srt_message *m, co_usec now);
void srt_receiver_ackack(struct srt_receiver *r, uint32_t number, uint32_t time, co_usec now);
void srt_receiver_drop(struct srt_receiver *r, const struct srt_range *range, co_usec now);
/* A packet that is to be sent now, header included; 0: none. */
size_t srt_receiver_output(struct srt_receiver *r, uint8_t out[SRT_PACKET_MAX], co_usec now);
co_usec srt_receiver_deadline(const struct srt_receiver *r); /* of both next() and output() */
void srt_receiver_stat(const struct srt_receiver *r, struct srt_receiver_stat *out);

#endif
