/* SPDX-License-Identifier: MIT */
/* srt_impl.h - the insides of a wire of SRT, shared by its files alone. */
#ifndef WIRE_SRT_IMPL_H
#define WIRE_SRT_IMPL_H

#include "format/ts/mux.h"
#include "wire/reading.h"
#include "wire/srt.h"

enum { SRT_WIRE_PIDS = 16 };

/* PIDs of packets that are relayed: which were told that they do not go on from what was before. */
struct srt_wire_told {
    bool on;
    co_usec until;
    unsigned n;
    struct {
        uint16_t pid;
        bool clock; /* one with a clock was told, too */
    } v[SRT_WIRE_PIDS];
};

struct srt_wire {
    struct wire_reading reading;
    struct srt_wire_opts set;
    struct srt_log log;
    bool wanted, relays;
    co_usec keep;           /* how long */
    co_usec due;            /* of the newest packet: no time falls */
    uint64_t begin;         /* number of the first packet of what is sent now */
    /* what is muxed here */
    struct ts_mux mux;
    struct frame_tracks tracks;
    bool jumps;             /* what was relayed had another clock */
    bool key;               /* the next packet is one to start at */
    int64_t key_dts;
    bool has_key_dts;
    struct wr out;          /* what is no packet yet */
    size_t cut;             /* so much of it is */
    size_t newest;          /* where the newest frame begins in it */
    co_usec out_due, newest_due; /* of what comes before that; of that */
    /* what is relayed */
    struct srt_wire_told told;
};

/* Append a packet, and forget what is old. */
void srt_wire_put(struct srt_wire *w, const uint8_t *data, size_t size, bool key, co_usec due);
void srt_wire_trim(struct srt_wire *w, co_usec now);

#endif
