/* SPDX-License-Identifier: MIT */
/* srt_impl.h - the fields of an SRT wire, private to its files. */
#ifndef WIRE_SRT_IMPL_H
#define WIRE_SRT_IMPL_H

#include "format/ts/mux.h"
#include "wire/reading.h"
#include "wire/srt.h"

enum { SRT_WIRE_PIDS = 16 };

/* PIDs of relayed packets that already got a discontinuity indicator. */
struct srt_wire_marked {
    bool on;
    co_usec until;
    unsigned n;
    struct {
        uint16_t pid;
        bool clock; /* also on a packet with a clock (PCR) */
    } v[SRT_WIRE_PIDS];
};

struct srt_wire {
    struct wire_reading reading;
    struct srt_wire_opts set;
    struct srt_log log;
    bool wanted, relays;
    co_usec keep;           /* how long packets are kept */
    co_usec due;            /* due time of the newest packet; never decreases */
    uint64_t begin;         /* first packet of the current input */
    /* state of the muxer */
    struct ts_mux mux;
    struct frame_tracks tracks;
    bool jumps;             /* the relayed packets before had another clock */
    bool key;               /* players may start at the next packet */
    int64_t key_dts;
    bool has_key_dts;
    struct wr out;          /* muxed bytes that are not all in packets yet */
    size_t cut;             /* bytes of `out` already in packets */
    size_t newest;          /* offset of the newest frame in `out` */
    /* due times of the bytes before the newest frame, and of that frame */
    co_usec out_due, newest_due;
    /* state of relayed packets */
    struct srt_wire_marked marked;
};

/* Appends a packet and removes old ones. */
void srt_wire_put(struct srt_wire *w, const uint8_t *data, size_t size, bool key, co_usec due);
void srt_wire_trim(struct srt_wire *w, co_usec now);

#endif
