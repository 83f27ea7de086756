/* SPDX-License-Identifier: MIT */
/* conn_own.h - a connection inside: what conn.c and conn_keys.c share. */
#ifndef PROTO_SRT_CONN_OWN_H
#define PROTO_SRT_CONN_OWN_H

#include "proto/srt/conn.h"

enum { SRT_ACKACKS = 8 };
enum srt_renewal { SRT_KEY_CALM, SRT_KEY_ANNOUNCED, SRT_KEY_SWITCHED };

/* A key message as it is on the wire. */
struct srt_km_bytes {
    uint8_t data[SRT_KM_MAX];
    size_t size;       /* 0: none */
};

struct srt_conn_answers {
    uint32_t ackacks[SRT_ACKACKS];
    unsigned n_ackacks, shutdowns;
    bool closed;
    /* keys of the peer: */
    bool km_due;       /* what it announced last is to be answered */
    struct srt_km_bytes theirs, answer;
    /* keys of ours: */
    enum srt_renewal step;
    uint64_t step_at;  /* the packet of the sender that the next step is due at */
    uint64_t began;    /* the first packet of the key of now */
    uint64_t after, before;
    struct srt_km_bytes ours;
    bool agreed;       /* the peer has it */
    co_usec ask_at;
};

/* A control packet without its body: bytes written, the body's included. */
size_t srt_conn_write(const struct srt_conn *c, const struct srt_packet *like, size_t body,
                      uint8_t *out, co_usec now);

void srt_conn_keys_init(struct srt_conn *c, const struct srt_conn_opts *o);
/* A message about keys came. False: it is of no use. */
bool srt_conn_keys_input(struct srt_conn *c, const struct srt_packet *p);
size_t srt_conn_keys_output(struct srt_conn *c, uint8_t *out, co_usec now);
/* Packets were sent: is it time for another key? */
void srt_conn_keys_sent(struct srt_conn *c, co_usec now);
co_usec srt_conn_keys_deadline(const struct srt_conn *c);

#endif
