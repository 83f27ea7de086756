/* SPDX-License-Identifier: MIT */
/* recv_own.h - a receiver inside: what recv.c and recv_say.c share. */
#ifndef PROTO_SRT_RECV_OWN_H
#define PROTO_SRT_RECV_OWN_H

#include "proto/srt/clock.h"
#include "proto/srt/held.h"
#include "proto/srt/recv.h"

enum { SRT_ACKS = 64, SRT_NEW_GAPS = 16 };

/* An ACK that is under way, until it is answered. */
struct srt_ack_sent {
    uint32_t number;   /* 0: none */
    bool again;        /* it went more than once, so its answer tells no round trip */
    uint64_t front;
    co_usec at;
};

struct srt_gap {
    uint64_t first, end;
};

/* What there is to say. */
struct srt_receiver_says {
    uint32_t number;       /* of the last ACK */
    uint64_t front, light; /* that it said; that it or a light one said */
    uint64_t answered;     /* the highest front whose ACK was answered */
    co_usec acked_at;      /* CO_FOREVER: never */
    struct srt_ack_sent acks[SRT_ACKS];
    struct srt_gap gaps[SRT_NEW_GAPS]; /* the peer was not told of yet */
    unsigned n_gaps;
    co_usec nak_at;        /* all that is missing is said then; CO_FOREVER: nothing was */
};

/* A packet that could not be decrypted: the number behind it, its time. */
struct srt_dark {
    uint64_t to;
    co_usec time;
};

struct srt_receiver {
    struct srt_receiver_opts set;
    struct srt_receiver_stat stat;
    struct srt_held held;
    struct srt_clock clock;
    struct srt_receiver_says says;
    struct srt_held_packet *given;
    bool hole, began;
    co_usec began_at, far_since; /* CO_FOREVER: not */
    struct srt_dark dark, darker; /* one that is waited for, and the newest */
    co_usec rate_at;
    uint64_t rate_packets, rate_bytes;
};

static inline uint32_t srt_receiver_seq(const struct srt_receiver *r, uint64_t n)
{
    return srt_seq_add(r->set.first_seq, (int64_t)n);
}

void srt_receiver_says_init(struct srt_receiver *r);
/* [first, end) is a gap that is new. */
void srt_receiver_says_gap(struct srt_receiver *r, uint64_t first, uint64_t end, co_usec now);
/* A packet came, or what should have been one. */
void srt_receiver_says_put(struct srt_receiver *r, co_usec now);
co_usec srt_receiver_says_deadline(const struct srt_receiver *r);

#endif
