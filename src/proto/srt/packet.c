/* SPDX-License-Identifier: MIT */
/* packet.c - parses and writes SRT packets and their contents: "Packet Structure". */
#include "proto/srt/packet.h"

#include "base/be.h"
#include "base/rd.h"

#define CONTROL 0x80000000u
#define MESSAGE_MASK 0x03ffffffu

enum { POSITION = 30, IN_ORDER = 29, KEY = 27, RETRANSMITTED = 26 }; /* bits of the second word */

/* ---- headers */

static void read_data(struct srt_packet *p, uint32_t first, uint32_t second)
{
    p->seq = first;
    p->position = (uint8_t)(second >> POSITION);
    p->in_order = second >> IN_ORDER & 1;
    p->key = second >> KEY & 3;
    p->retransmitted = second >> RETRANSMITTED & 1;
    p->message = second & MESSAGE_MASK;
}

bool srt_packet_read(struct srt_packet *p, const uint8_t *data, size_t size)
{
    struct rd r = rd_init(data, size);
    uint32_t first = rd_u32(&r), second = rd_u32(&r);

    *p = (struct srt_packet){ .control = first & CONTROL };
    p->time = rd_u32(&r);
    p->to = rd_u32(&r);
    p->body = r.p;
    p->size = rd_left(&r);
    if (p->control) {
        p->type = first >> 16 & 0x7fff;
        p->subtype = (uint16_t)first;
        p->info = second;
    } else {
        read_data(p, first, second);
    }
    return !r.bad;
}

void srt_packet_write(const struct srt_packet *p, uint8_t out[SRT_HEADER])
{
    if (p->control) {
        (void)be_put32(out, CONTROL | (uint32_t)p->type << 16 | p->subtype);
        (void)be_put32(out + 4, p->info);
    } else {
        (void)be_put32(out, p->seq & SRT_SEQ_MASK);
        (void)be_put32(out + 4, (uint32_t)p->position << POSITION |
                               (uint32_t)p->in_order << IN_ORDER |
                               (uint32_t)(p->key & 3) << KEY |
                               (uint32_t)p->retransmitted << RETRANSMITTED |
                               (p->message & MESSAGE_MASK));
    }
    (void)be_put32(out + 8, p->time);
    (void)be_put32(out + 12, p->to);
}

/* ---- ACK */

bool srt_ack_read(struct srt_ack *a, const uint8_t *body, size_t size)
{
    struct rd r = rd_init(body, size);

    *a = (struct srt_ack){ .words = size >= 28 ? 7 : size >= 16 ? 4 : 1 };
    a->next = rd_u32(&r);
    if (a->words >= 4) {
        a->rtt = rd_u32(&r);
        a->variance = rd_u32(&r);
        a->room = rd_u32(&r);
    }
    if (a->words == 7) {
        a->packets = rd_u32(&r);
        a->link = rd_u32(&r);
        a->bytes = rd_u32(&r);
    }
    return !r.bad && a->next <= SRT_SEQ_MASK;
}

size_t srt_ack_write(const struct srt_ack *a, uint8_t out[28])
{
    uint32_t words[7] = { a->next, a->rtt, a->variance, a->room, a->packets, a->link, a->bytes };
    size_t n = a->words >= 7 ? 7 : a->words >= 4 ? 4 : 1;

    for (size_t i = 0; i < n; i++)
        (void)be_put32(out + 4 * i, words[i]);
    return 4 * n;
}

/* ---- ranges of sequence numbers */

static bool is_range(const struct srt_range *r)
{
    return r->first <= SRT_SEQ_MASK && r->last <= SRT_SEQ_MASK &&
           srt_seq_distance(r->first, r->last) >= 0;
}

void srt_nak_begin(struct srt_nak_reader *r, const uint8_t *body, size_t size)
{
    *r = (struct srt_nak_reader){ .at = body, .end = body + size };
}

/* `at` stays at an invalid entry. */
bool srt_nak_next(struct srt_nak_reader *r, struct srt_range *out)
{
    struct rd in = rd_init(r->at, (size_t)(r->end - r->at));
    uint32_t first = rd_u32(&in);

    out->first = out->last = first & ~CONTROL;
    if (first & CONTROL)
        out->last = rd_u32(&in);
    if (in.bad || !is_range(out))
        return false;
    r->at = in.p;
    return true;
}

size_t srt_nak_put(const struct srt_range *r, uint8_t *out, size_t room)
{
    size_t size = r->first == r->last ? 4 : 8;

    if (room < size)
        return 0;
    (void)be_put32(out, r->first | (size == 8 ? CONTROL : 0));
    if (size == 8)
        (void)be_put32(out + 4, r->last);
    return size;
}

bool srt_drop_read(struct srt_range *out, const uint8_t *body, size_t size)
{
    struct rd r = rd_init(body, size);

    out->first = rd_u32(&r);
    out->last = rd_u32(&r);
    return !r.bad && is_range(out);
}

size_t srt_drop_write(const struct srt_range *r, uint8_t out[8])
{
    (void)be_put32(out, r->first);
    (void)be_put32(out + 4, r->last);
    return 8;
}
