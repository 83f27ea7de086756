/* SPDX-License-Identifier: MIT */
/* recv_say.c - what a receiver says: ACKs, and NAKs for what is missing. */
#include "proto/srt/recv_own.h"

enum { LIGHT_EVERY = 64 };
#define ACK_FIRST CO_MS(10) /* in the first second */
#define ACK_EVERY CO_MS(50)
#define NAK_LEAST CO_MS(20)

void srt_receiver_says_init(struct srt_receiver *r)
{
    struct srt_receiver_says *s = &r->says;

    s->front = s->light = s->answered = SRT_HELD_FIRST;
    s->acked_at = s->nak_at = CO_FOREVER;
}

/* ---- ACK */

static co_usec patience(const struct srt_receiver *r)
{
    return r->clock.rtt + 4 * r->clock.variance;
}

static struct srt_ack_sent *ack_of(struct srt_receiver_says *s, uint32_t number)
{
    return &s->acks[number % SRT_ACKS];
}

/* CO_FOREVER: all that came in order was acknowledged, and we know that the peer knows. */
static co_usec ack_due(const struct srt_receiver *r)
{
    const struct srt_receiver_says *s = &r->says;
    bool again = r->held.front == s->front;
    co_usec every = ACK_EVERY;

    if (r->held.front == s->answered)
        return CO_FOREVER;
    if (s->acked_at == CO_FOREVER)
        return 0;
    if (s->acked_at - r->began_at < CO_SECONDS(1))
        every = ACK_FIRST;
    if (again && patience(r) > every)
        every = patience(r);
    return s->acked_at + every;
}

static bool light_is_due(const struct srt_receiver *r)
{
    return r->held.front >= r->says.light + LIGHT_EVERY;
}

static size_t say(const struct srt_receiver *r, uint16_t type, uint32_t info, size_t body,
                  co_usec now, uint8_t *out)
{
    struct srt_packet p = { .control = true, .type = type, .info = info, .to = r->set.peer_id,
                            .time = (uint32_t)(now - r->set.zero) };

    srt_packet_write(&p, out);
    return SRT_HEADER + body;
}

static uint32_t room(const struct srt_held *h)
{
    return h->window - (uint32_t)(h->front - h->next);
}

/* A new one has a new number. One that was said already has its old one: who answers only some of
 * them answers what comes again. */
static uint32_t number_ack(struct srt_receiver *r, co_usec now)
{
    struct srt_receiver_says *s = &r->says;
    bool again = r->held.front == s->front && s->number > 0;

    if (!again && ++s->number == 0)
        s->number = 1;
    *ack_of(s, s->number) = (struct srt_ack_sent){ s->number, again, r->held.front, now };
    s->front = s->light = r->held.front;
    s->acked_at = now;
    return s->number;
}

static uint32_t limit32(uint64_t v)
{
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

static size_t say_ack(struct srt_receiver *r, uint8_t *out, co_usec now)
{
    struct srt_ack a = { .words = 7, .next = srt_receiver_seq(r, r->held.front) };
    uint32_t number = number_ack(r, now);

    a.rtt = (uint32_t)r->clock.rtt;
    a.variance = (uint32_t)r->clock.variance;
    a.room = room(&r->held);
    a.packets = a.link = limit32(r->stat.rate);
    a.bytes = limit32(r->stat.payload_rate);
    return say(r, SRT_ACK, number, srt_ack_write(&a, out + SRT_HEADER), now, out);
}

static size_t say_light(struct srt_receiver *r, uint8_t *out, co_usec now)
{
    struct srt_ack a = { .words = 1, .next = srt_receiver_seq(r, r->held.front) };

    r->says.light = r->held.front;
    return say(r, SRT_ACK, 0, srt_ack_write(&a, out + SRT_HEADER), now, out);
}

void srt_receiver_ackack(struct srt_receiver *r, uint32_t number, uint32_t time, co_usec now)
{
    struct srt_receiver_says *s = &r->says;
    struct srt_ack_sent *a = ack_of(s, number);

    if (number == 0 || a->number != number)
        return; /* answered already, long ago, or never said */
    if (a->front > s->answered)
        s->answered = a->front;
    if (!a->again)
        srt_clock_sample(&r->clock, now - a->at, time, now);
    a->number = 0;
}

/* ---- NAK */

static co_usec nak_every(const struct srt_receiver *r)
{
    co_usec half = patience(r) / 2;

    return half > NAK_LEAST ? half : NAK_LEAST;
}

void srt_receiver_says_gap(struct srt_receiver *r, uint64_t first, uint64_t end, co_usec now)
{
    struct srt_receiver_says *s = &r->says;

    if (s->n_gaps < SRT_NEW_GAPS)
        s->gaps[s->n_gaps++] = (struct srt_gap){ first, end };
    else
        s->gaps[s->n_gaps - 1].end = end; /* what came between is left out when it is said */
    if (s->nak_at == CO_FOREVER)
        s->nak_at = now + nak_every(r);
}

void srt_receiver_says_put(struct srt_receiver *r, co_usec now)
{
    struct srt_receiver_says *s = &r->says;

    if (srt_held_misses(&r->held) == 0)
        s->nak_at = CO_FOREVER;
    else if (s->nak_at == CO_FOREVER)
        s->nak_at = now + nak_every(r);
}

/* Entries of what is missing in [from, end). */
struct list {
    uint8_t *out;
    size_t size;
    unsigned entries;
};

static bool list_missing(const struct srt_receiver *r, struct list *l, uint64_t from, uint64_t end)
{
    uint64_t first;

    from = from < r->held.next ? r->held.next : from;
    while (srt_held_missing(&r->held, from, end, &first, &from)) {
        struct srt_range range = { srt_receiver_seq(r, first), srt_receiver_seq(r, from - 1) };
        size_t n = 0;

        if (l->entries < SRT_NAK_MAX)
            n = srt_nak_put(&range, l->out + l->size, SRT_PAYLOAD_MAX - l->size);
        if (n == 0)
            return false; /* full: the rest when all is said next */
        l->size += n;
        l->entries++;
    }
    return true;
}

static size_t say_nak(struct srt_receiver *r, uint8_t *out, co_usec now)
{
    struct srt_receiver_says *s = &r->says;
    struct list l = { out + SRT_HEADER, 0, 0 };

    if (s->n_gaps == 0) {
        (void)list_missing(r, &l, r->held.next, r->held.head);
        s->nak_at = l.size ? now + nak_every(r) : CO_FOREVER;
    }
    for (unsigned i = 0; i < s->n_gaps; i++)
        if (!list_missing(r, &l, s->gaps[i].first, s->gaps[i].end))
            break;
    s->n_gaps = 0;
    return l.size ? say(r, SRT_NAK, 0, l.size, now, out) : 0;
}

/* ---- all of it */

size_t srt_receiver_output(struct srt_receiver *r, uint8_t out[SRT_PACKET_MAX], co_usec now)
{
    const struct srt_receiver_says *s = &r->says;
    co_usec ack = ack_due(r);
    size_t n = 0;

    if (ack != CO_FOREVER && now >= ack)
        return say_ack(r, out, now);
    if (s->n_gaps > 0)
        n = say_nak(r, out, now);
    if (n == 0 && s->nak_at != CO_FOREVER && now >= s->nak_at)
        n = say_nak(r, out, now);
    if (n == 0 && light_is_due(r))
        n = say_light(r, out, now);
    return n;
}

co_usec srt_receiver_says_deadline(const struct srt_receiver *r)
{
    const struct srt_receiver_says *s = &r->says;
    co_usec ack = ack_due(r);

    if (s->n_gaps > 0 || light_is_due(r))
        return 0;
    if (ack == CO_FOREVER || s->nak_at == CO_FOREVER)
        return ack == CO_FOREVER ? s->nak_at : ack;
    return ack < s->nak_at ? ack : s->nak_at;
}
