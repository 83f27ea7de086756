/* SPDX-License-Identifier: MIT */
/* relay.h - the packets of a publisher as they came, for who plays its stream by SRT. */
#ifndef SERVE_SRT_RELAY_H
#define SERVE_SRT_RELAY_H

#include "serve/srt/impl.h"
#include "serve/srt/stream.h"

struct ts_intake;

struct srt_relay {
    struct srt_stream *stream;
    struct srt_wire *wire;   /* of it; NULL: nothing is relayed */
    uint64_t bytes;          /* put so far */
    uint64_t key;            /* where the newest one begins, in bytes */
    bool has_key;
};

/* Begins zeroed; nothing happens where it is off. */
void srt_relay_begin(struct srt_relay *r, struct srt_peer *p);
void srt_relay_end(struct srt_relay *r, struct srt_peer *p);
/* The intake has read that one. */
void srt_relay_put(struct srt_relay *r, const struct ts_intake *intake, const uint8_t *data,
                   size_t size, co_usec now);

#endif
