/* SPDX-License-Identifier: MIT */
/* srt_fuzz.h - datagrams for an SRT connection: any bytes, and some that are nearly valid. */
#ifndef SRT_FUZZ_H
#define SRT_FUZZ_H

#include "base/be.h"
#include "base/rd.h"
#include "fuzz.h"
#include "proto/srt/conn.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SRT_FUZZ_FIRST = 0x7fffff00 };

/* Numbers in the input are relative to the relevant one. */
static inline uint32_t srt_fuzz_seq(struct rd *in, uint32_t at)
{
    return srt_seq_add(at, (int16_t)rd_u16(in));
}

static inline size_t srt_fuzz_ranges(struct rd *in, uint32_t at, bool list, uint8_t *out)
{
    unsigned n = list ? rd_u8(in) : 1;
    size_t size = 0;

    while (n-- && size < 1400) {
        uint32_t first = srt_fuzz_seq(in, at), last = srt_seq_add(first, rd_u16(in));

        (void)be_put32(out + size, first | (list && last != first ? 1u << 31 : 0));
        (void)be_put32(out + size + 4, last);
        size += list && last == first ? 4 : 8;
    }
    return size;
}

static inline size_t srt_fuzz_ack(struct rd *in, uint32_t at, uint8_t *out)
{
    struct srt_ack a = { .words = rd_u8(in) & 7, .next = srt_fuzz_seq(in, at) };

    a.rtt = (uint32_t)rd_u8(in) * 1000;
    a.variance = (uint32_t)rd_u8(in) * 1000;
    a.room = rd_u16(in);
    return srt_ack_write(&a, out);
}

static inline void srt_fuzz_data(struct srt_packet *p, struct rd *in, uint8_t how, uint32_t at,
                                 co_usec clock)
{
    p->control = false;
    p->key = how >> 3 & 3;
    p->retransmitted = how >> 5 & 1;
    p->seq = srt_fuzz_seq(in, at);
    p->time = (uint32_t)(clock + CO_MS((int8_t)rd_u8(in)));
    p->size = rd_u8(in);
    p->size = p->size < rd_left(in) ? p->size : rd_left(in);
    p->body = rd_take(in, p->size);
}

/* The next datagram; its body is in `room` or in the input. False: there is none. */
static inline bool srt_fuzz_packet(struct srt_packet *p, struct rd *in, uint32_t at, co_usec clock,
                                   uint8_t room[2048])
{
    static const uint16_t types[8] = { [2] = SRT_ACK, [3] = SRT_NAK, [4] = SRT_DROP,
                                       [5] = SRT_ACKACK, [6] = SRT_EXTENSION, };
    uint8_t how = rd_u8(in);
    size_t size;

    *p = (struct srt_packet){ .control = true, .time = (uint32_t)clock, .to = 1, .body = room,
                              .type = types[how & 7] };
    switch (how & 7) {
    case 0:
        size = rd_u16(in) & 0x7ff;
        size = size < rd_left(in) ? size : rd_left(in);
        return srt_packet_read(p, rd_take(in, size), size);
    case 1:
        srt_fuzz_data(p, in, how, at, clock);
        return true;
    case 2:
        p->info = rd_u8(in);
        p->size = srt_fuzz_ack(in, at, room);
        return true;
    case 3:
    case 4:
        p->size = srt_fuzz_ranges(in, at, (how & 7) == 3, room);
        return true;
    case 5:
        p->info = rd_u8(in);
        return true;
    default:
        p->type = (how & 7) == 6 ? SRT_EXTENSION : rd_u8(in);
        p->subtype = rd_u8(in);
        p->size = rd_u8(in);
        p->size = p->size < rd_left(in) ? p->size : rd_left(in);
        p->body = rd_take(in, p->size);
        return true;
    }
}

static inline struct srt_secret *srt_fuzz_secret(void)
{
    struct srt_secret *s = calloc(1, sizeof(*s));

    assert(s);
    s->which = SRT_EVEN;
    s->key_size = 16;
    return s;
}

static inline struct srt_conn_opts srt_fuzz_opts(uint8_t how, co_usec now)
{
    return (struct srt_conn_opts){
        .agreed = { .id = 1, .peer_id = 2, .first_seq = SRT_FUZZ_FIRST, .payload = 1316,
                    .window = how & 8 ? 8192 : 100, .recv_latency = CO_MS(120),
                    .send_latency = CO_MS(120) },
        .now = now, .peer_zero = now, .zero = now, .idle_timeout = CO_SECONDS(10),
        .tsbpd = how & 1, .drop_late = how & 2, .secret = how & 4 ? srt_fuzz_secret() : NULL,
        .maxbw = 125000000, .renew_after = 50, .renew_before = 20,
    };
}

/* Its output so far. */
static inline void srt_fuzz_control(struct srt_conn *c, co_usec now)
{
    uint8_t out[SRT_PACKET_MAX];
    struct srt_packet p;
    unsigned n = 0;
    size_t size;

    while ((size = srt_conn_control(c, out, now)) > 0) {
        assert(size >= SRT_HEADER + 4 && size <= sizeof(out) && ++n < 32);
        assert(srt_packet_read(&p, out, size) && p.control && p.to == 2);
    }
}

#endif
