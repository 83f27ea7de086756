/* SPDX-License-Identifier: MIT */
/* recv.h - SRT receiver: delivers packets in order and on time, and requests retransmissions.
 *
 * "Acknowledgement and Lost Packet Handling", "Timestamp-Based Packet Delivery", "Too-Late Packet
 * Drop". No I/O, does not yield. Memory: the packets that arrived and are not delivered, at most
 * `window`.
 */
#ifndef PROTO_SRT_RECV_H
#define PROTO_SRT_RECV_H

#include "co/co.h"
#include "proto/srt/crypt.h"

struct srt_receiver_opts {
    uint32_t first_seq, peer_id;
    unsigned window;          /* packets, at most 8192 */
    co_usec base; /* the peer's time zero: arrival of its handshake minus its timestamp */
    co_usec zero;             /* our time zero, for the timestamps of packets we send */
    co_usec latency;
    bool tsbpd, drop_late;    /* tsbpdmode, tlpktdrop */
    struct srt_cipher *cipher; /* owned by the connection; NULL: no encryption */
};

struct srt_receiver_stat {
    uint64_t received, bytes; /* data packets including retransmissions and duplicates; bytes of
                               * payload */
    uint64_t lost;            /* packets in detected gaps */
    uint64_t retransmitted;   /* packets with the R flag */
    uint64_t dropped;         /* given up: too late, or the peer dropped them */
    uint64_t belated;         /* arrived after they were given up */
    uint64_t doubled, undecrypted, far; /* far: outside the window */
    unsigned held;            /* packets in the buffer */
    co_usec held_time;        /* time between the oldest and the newest of them */
    co_usec rtt, variance;
    uint64_t rate, payload_rate; /* packets, bytes a second, lately */
};

/* A packet, in order. Valid until the next call. */
struct srt_message {
    const uint8_t *data;
    size_t size;
    co_usec due;              /* its playback time */
    bool hole;                /* packets right before it are missing */
};

struct srt_receiver;          /* owned by its creator */
/* NULL if memory allocation fails */
struct srt_receiver *srt_receiver_new(const struct srt_receiver_opts *opts);
void srt_receiver_free(struct srt_receiver *r);
/* Frees some of the receiver's packets; only srt_receiver_free() may follow. Returns false when
 * none are left. */
bool srt_receiver_drain(struct srt_receiver *r);
/* Handles a data packet. Returns false if the peer has sent only invalid packets for so long that
 * the connection must end. */
bool srt_receiver_put(struct srt_receiver *r, const struct srt_packet *p, co_usec now);
bool srt_receiver_next(struct srt_receiver *r, struct srt_message *m, co_usec now);
void srt_receiver_ackack(struct srt_receiver *r, uint32_t number, uint32_t time, co_usec now);
void srt_receiver_drop(struct srt_receiver *r, const struct srt_range *range, co_usec now);
/* Writes the next packet that is due, including its header; returns its size, or 0 if there is
 * none. */
size_t srt_receiver_output(struct srt_receiver *r, uint8_t out[SRT_PACKET_MAX], co_usec now);
co_usec srt_receiver_deadline(const struct srt_receiver *r); /* for next() and output() */
void srt_receiver_stat(const struct srt_receiver *r, struct srt_receiver_stat *out);

#endif
