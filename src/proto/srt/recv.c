/* SPDX-License-Identifier: MIT */
/* recv.c - receive from a peer: what came, what goes on, what is given up, and what is reported. */
#include "proto/srt/recv.h"

#include "base/mem.h"
#include "co/co.h"
#include "proto/srt/recv_window.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct srt_clock {
    co_usec base;          /* when the peer's clock was 0, by ours, its way to us included */
    co_usec rtt, variance; /* smoothed */
    /* ours */
    bool has_rtt, has_usual;
    co_usec usual;         /* the round trip while `base` was found */
    co_usec since;         /* the samples of drift began then */
    int64_t drift_sum, rtt_sum;
    unsigned samples;
};

/* ---- the peer's clock: "Timestamp-Based Packet Delivery", "Round-Trip Time Estimation" */

enum { SAMPLES = 32 };
#define RTT_FIRST CO_MS(100)
#define RTT_MOST  CO_SECONDS(10)
/* Two clocks may drift by 200 ppm: over such a time that is 1.6 ms, and it is seen when it is over
 * 1 ms, so all in all the base is never 5 ms wrong. A jitter of 20 ms is less than 1 ms of a
 * mean. */
#define DRIFT_TIME CO_SECONDS(8)
#define DRIFT_SEEN CO_MS(1)

static void srt_clock_init(struct srt_clock *c, co_usec base)
{
    *c = (struct srt_clock){ .base = base, .rtt = RTT_FIRST, .variance = RTT_FIRST / 2 };
}

/* How far behind what it could be at the earliest is it? Half a wrap is 36 minutes. */
static co_usec lag(const struct srt_clock *c, uint32_t time, co_usec now)
{
    return -(co_usec)(int32_t)(time - (uint32_t)(now - c->base));
}

/* A timestamp of 32 bits as microseconds from the peer's zero on: what it can be at that time. */
static co_usec srt_clock_unwrap(const struct srt_clock *c, uint32_t time, co_usec now)
{
    return now - c->base - lag(c, time, now);
}

static void smooth(struct srt_clock *c, co_usec rtt)
{
    if (!c->has_rtt) {
        c->rtt = rtt;
        c->variance = rtt / 2;
    } else {
        c->variance += (llabs(rtt - c->rtt) - c->variance) / 4;
        c->rtt += (rtt - c->rtt) / 8;
    }
    c->has_rtt = true;
}

/* The way to us may have become longer: it is taken for half of what the round trip did. */
static void correct(struct srt_clock *c)
{
    co_usec rtt = c->rtt_sum / c->samples, drift;

    c->usual = c->has_usual ? c->usual : rtt;
    c->has_usual = true;
    drift = c->drift_sum / c->samples - (rtt - c->usual) / 2;
    if (llabs(drift) > DRIFT_SEEN)
        c->base += drift;
}

/* An answer of the peer, which wrote `time` into it, came after a round trip. */
static void srt_clock_sample(struct srt_clock *c, co_usec rtt, uint32_t time, co_usec now)
{
    if (rtt < 0 || rtt > RTT_MOST)
        return;
    smooth(c, rtt);
    if (c->samples == 0)
        c->since = now;
    c->drift_sum += lag(c, time, now);
    c->rtt_sum += rtt;
    c->samples++;
    if (c->samples < SAMPLES || now - c->since < DRIFT_TIME)
        return;
    correct(c);
    c->drift_sum = c->rtt_sum = 0;
    c->samples = 0;
}

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
    struct srt_recv_window held;
    struct srt_clock clock;
    struct srt_receiver_says says;
    struct srt_recv_window_packet *given;
    bool hole, began;
    co_usec began_at, far_since; /* CO_FOREVER: not */
    struct srt_dark dark, darker; /* one that is waited for, and the newest */
    co_usec rate_at;
    uint64_t rate_packets, rate_bytes;
};

static uint32_t srt_receiver_seq(const struct srt_receiver *r, uint64_t n)
{
    return srt_seq_add(r->set.first_seq, (int64_t)n);
}

/* ---- what there is to say */

enum { LIGHT_EVERY = 64 };
#define ACK_FIRST CO_MS(10) /* in the first second */
#define ACK_EVERY CO_MS(50)
#define NAK_LEAST CO_MS(20)

static void srt_receiver_says_init(struct srt_receiver *r)
{
    struct srt_receiver_says *s = &r->says;

    s->front = s->light = s->answered = SRT_RECV_WINDOW_FIRST;
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

static uint32_t room(const struct srt_recv_window *h)
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

/* [first, end) is a gap that is new. */
static void srt_receiver_says_gap(struct srt_receiver *r, uint64_t first, uint64_t end, co_usec now)
{
    struct srt_receiver_says *s = &r->says;

    if (s->n_gaps < SRT_NEW_GAPS)
        s->gaps[s->n_gaps++] = (struct srt_gap){ first, end };
    else
        s->gaps[s->n_gaps - 1].end = end; /* what came between is left out when it is said */
    if (s->nak_at == CO_FOREVER)
        s->nak_at = now + nak_every(r);
}

/* A packet came, or what should have been one. */
static void srt_receiver_says_put(struct srt_receiver *r, co_usec now)
{
    struct srt_receiver_says *s = &r->says;

    if (srt_recv_window_misses(&r->held) == 0)
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
    while (srt_recv_window_missing(&r->held, from, end, &first, &from)) {
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

static co_usec srt_receiver_says_deadline(const struct srt_receiver *r)
{
    const struct srt_receiver_says *s = &r->says;
    co_usec ack = ack_due(r);

    if (s->n_gaps > 0 || light_is_due(r))
        return 0;
    if (ack == CO_FOREVER || s->nak_at == CO_FOREVER)
        return ack == CO_FOREVER ? s->nak_at : ack;
    return ack < s->nak_at ? ack : s->nak_at;
}

/* ---- packets */

enum { WINDOW_LEAST = 32, WINDOW_MOST = 8192, FAR_BEHIND = 1 << 16 };
#define FAR_MOST CO_SECONDS(1)
#define RATE_TIME CO_SECONDS(1)

struct srt_receiver *srt_receiver_new(const struct srt_receiver_opts *opts)
{
    struct srt_receiver *r = mem_may(sizeof(*r)) ? calloc(1, sizeof(*r)) : NULL;
    unsigned window = opts->window < WINDOW_LEAST ? WINDOW_LEAST : opts->window;

    if (!r)
        return NULL;
    r->set = *opts;
    r->far_since = CO_FOREVER;
    r->dark.to = r->darker.to = SRT_RECV_WINDOW_FIRST;
    srt_clock_init(&r->clock, opts->base);
    srt_receiver_says_init(r);
    if (srt_recv_window_init(&r->held, window < WINDOW_MOST ? window : WINDOW_MOST))
        return r;
    free(r);
    return NULL;
}

void srt_receiver_free(struct srt_receiver *r)
{
    if (!r)
        return;
    srt_recv_window_fini(&r->held);
    free(r->given);
    free(r);
}

bool srt_receiver_drain(struct srt_receiver *r)
{
    return srt_recv_window_drain(&r->held);
}

static uint64_t number_of(const struct srt_receiver *r, uint32_t seq)
{
    int32_t ahead = srt_seq_distance(srt_receiver_seq(r, r->held.next), seq);

    return (uint64_t)((int64_t)r->held.next + ahead);
}

static co_usec due_of(const struct srt_receiver *r, const struct srt_recv_window_packet *p)
{
    return r->clock.base + p->time + r->set.latency;
}

/* ---- what comes */

static void rate(struct srt_receiver *r, size_t size, co_usec now)
{
    co_usec time = now - r->rate_at;

    if (time >= RATE_TIME) {
        r->stat.rate = r->rate_packets * (uint64_t)CO_SECONDS(1) / (uint64_t)time;
        r->stat.payload_rate = r->rate_bytes * (uint64_t)CO_SECONDS(1) / (uint64_t)time;
        r->rate_packets = r->rate_bytes = 0;
        r->rate_at = now;
    }
    r->rate_packets++;
    r->rate_bytes += size;
}

static void count(struct srt_receiver *r, const struct srt_packet *p, co_usec now)
{
    if (!r->began) {
        r->began = true;
        r->began_at = r->rate_at = now;
    }
    r->stat.received++;
    r->stat.bytes += p->size;
    r->stat.repeated += p->repeated;
    rate(r, p->size, now);
}

/* It cannot be one of a peer that follows the protocol. Nothing else for so long: it ends. */
static bool is_far(struct srt_receiver *r, co_usec now)
{
    r->stat.far++;
    if (r->far_since == CO_FOREVER)
        r->far_since = now;
    return now - r->far_since < FAR_MOST;
}

/* What is below `to` was sent, so the peer is told what of it did not come. */
static void reach(struct srt_receiver *r, uint64_t to, uint64_t missing_to, co_usec now)
{
    struct srt_recv_window *h = &r->held;

    if (missing_to > h->head) {
        r->stat.lost += missing_to - h->head;
        srt_receiver_says_gap(r, h->head, missing_to, now);
    }
    srt_recv_window_reach(h, to);
}

/* In the clear where we have a key, or the other way round, or with a key that we do not have. */
static bool is_dark(const struct srt_receiver *r, const struct srt_packet *p)
{
    struct srt_cipher *c = r->set.cipher;

    if (p->key != SRT_EVEN && p->key != SRT_ODD)
        return c || p->key != SRT_CLEAR;
    return !c || !srt_cipher_has(c, p->key);
}

/* It stays missing: it may come again when its key came. Nobody waits longer than for itself. */
static void leave_dark(struct srt_receiver *r, uint64_t n, co_usec time)
{
    r->stat.undecrypted++;
    if (r->dark.to <= r->held.next)
        r->dark = (struct srt_dark){ n + 1, time };
    if (n >= r->darker.to)
        r->darker = (struct srt_dark){ n + 1, time };
}

static void keep(struct srt_receiver *r, const struct srt_packet *p, uint64_t n, co_usec time)
{
    struct srt_recv_window_packet *held = mem_try(sizeof(*held) + p->size);

    if (!held)
        return; /* as if it were lost */
    held->time = time;
    held->size = (uint32_t)p->size;
    if (r->set.cipher)
        srt_cipher_run(r->set.cipher, p->key, p->seq, p->body, held->data, p->size);
    else if (p->size)
        memcpy(held->data, p->body, p->size);
    if (!srt_recv_window_put(&r->held, n, held))
        free(held);
}

bool srt_receiver_put(struct srt_receiver *r, const struct srt_packet *p, co_usec now)
{
    struct srt_recv_window *h = &r->held;
    uint64_t n = number_of(r, p->seq);
    co_usec time;

    count(r, p, now);
    if (n >= h->next + h->window || n + FAR_BEHIND < h->next || p->size > SRT_PAYLOAD_MAX)
        return is_far(r, now);
    r->far_since = CO_FOREVER;
    if (n < h->head && srt_recv_window_was_dropped(h, n)) {
        r->stat.belated++;
        return true;
    }
    if (n < h->next || (n < h->head && srt_recv_window_has(h, n))) {
        r->stat.doubled++;
        return true;
    }
    reach(r, n + 1, n, now);
    time = r->set.tsbpd ? srt_clock_unwrap(&r->clock, p->time, now) : now - r->clock.base;
    if (is_dark(r, p))
        leave_dark(r, n, time);
    else
        keep(r, p, n, time);
    srt_receiver_says_put(r, now);
    return true;
}

void srt_receiver_drop(struct srt_receiver *r, const struct srt_range *range, co_usec now)
{
    struct srt_recv_window *h = &r->held;
    uint64_t first = number_of(r, range->first), end = number_of(r, range->last) + 1;

    if (first >= end || end <= h->next)
        return; /* nonsense, or long ago */
    if (end > h->next + h->window) {
        r->stat.far++;
        return;
    }
    first = first < h->next ? h->next : first;
    if (end > h->head)
        reach(r, end, first, now);
    r->stat.dropped += srt_recv_window_give_up(h, first, end);
}

/* ---- what goes on */

/* When those that cannot be decrypted are given up, if nothing else comes. */
static co_usec dark_due(const struct srt_receiver *r)
{
    if (!r->set.drop_late || r->dark.to <= r->held.next)
        return CO_FOREVER;
    return r->clock.base + r->dark.time + r->set.latency;
}

static void pass(struct srt_receiver *r, uint64_t to)
{
    if (to > r->held.next) {
        r->hole = true;
        srt_recv_window_pass(&r->held, to);
    }
}

/* Nothing is here any more; the rest may be of no use. */
static void pass_rest(struct srt_receiver *r, co_usec now)
{
    struct srt_recv_window *h = &r->held;
    co_usec due;

    while ((due = dark_due(r)) != CO_FOREVER && now >= due) {
        r->stat.dropped += srt_recv_window_give_up(h, h->next, r->dark.to);
        pass(r, h->front);
        r->dark = r->darker;
    }
    pass(r, h->front);
}

/* Of [next, n), which is not here: may it be left behind? */
static bool may_pass(struct srt_receiver *r, uint64_t n, co_usec due, co_usec now)
{
    struct srt_recv_window *h = &r->held;

    if (h->front < n) {
        if (!r->set.drop_late || now < due)
            return false;
        r->stat.dropped += srt_recv_window_give_up(h, h->next, n);
    }
    return true;
}

bool srt_receiver_next(struct srt_receiver *r, struct srt_message *m, co_usec now)
{
    struct srt_recv_window *h = &r->held;
    const struct srt_recv_window_packet *p;
    uint64_t n;
    co_usec due;

    free(r->given);
    r->given = NULL;
    if (h->next == h->head)
        return false;
    p = srt_recv_window_first(h, &n);
    if (!p) {
        pass_rest(r, now);
        return false;
    }
    due = due_of(r, p);
    if (!may_pass(r, n, due, now) || (r->set.tsbpd && now < due))
        return false;
    pass(r, n);
    r->given = srt_recv_window_take(h);
    *m = (struct srt_message){ .data = r->given->data, .size = r->given->size, .hole = r->hole,
                               .due = r->set.tsbpd ? due : due - r->set.latency };
    r->hole = false;
    return true;
}

static co_usec next_due(const struct srt_receiver *r)
{
    const struct srt_recv_window *h = &r->held;
    const struct srt_recv_window_packet *p;
    uint64_t n;

    p = srt_recv_window_first(h, &n);
    if (!p)
        return dark_due(r);
    if (h->front < n && !r->set.drop_late)
        return CO_FOREVER;
    return r->set.tsbpd || h->front < n ? due_of(r, p) : 0;
}

co_usec srt_receiver_deadline(const struct srt_receiver *r)
{
    co_usec say = srt_receiver_says_deadline(r), due = next_due(r);

    if (say == CO_FOREVER || due == CO_FOREVER)
        return say == CO_FOREVER ? due : say;
    return say < due ? say : due;
}

void srt_receiver_stat(const struct srt_receiver *r, struct srt_receiver_stat *out)
{
    const struct srt_recv_window_packet *first, *last;
    uint64_t n;

    *out = r->stat;
    out->held = r->held.held;
    first = srt_recv_window_first(&r->held, &n);
    last = srt_recv_window_last(&r->held);
    out->held_time = first ? last->time - first->time : 0;
    out->rtt = r->clock.rtt;
    out->variance = r->clock.variance;
}
