/* SPDX-License-Identifier: MIT */
/* recv.c - SRT receiver: stores arrived packets, delivers them, gives up missing ones, and sends
 * ACKs and NAKs.
 */
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
    co_usec base;          /* our time at which the peer's clock was 0, plus the network delay */
    co_usec rtt, variance; /* smoothed */
    /* private */
    bool has_rtt, has_usual;
    co_usec usual;         /* round trip time when `base` was determined */
    co_usec since;         /* start of the current drift samples */
    int64_t drift_sum, rtt_sum;
    unsigned samples;
};

/* ---- the peer's clock: "Timestamp-Based Packet Delivery", "Round-Trip Time Estimation" */

enum { SAMPLES = 32 };
#define RTT_FIRST CO_MS(100)
#define RTT_MOST  CO_SECONDS(10)
/* Two clocks may drift by 200 ppm, which is 1.6 ms in this time. Drift over 1 ms is corrected, so
 * the base is never off by 5 ms. A jitter of 20 ms changes the mean by less than 1 ms. */
#define DRIFT_TIME CO_SECONDS(8)
#define DRIFT_SEEN CO_MS(1)

static void srt_clock_init(struct srt_clock *c, co_usec base)
{
    *c = (struct srt_clock){ .base = base, .rtt = RTT_FIRST, .variance = RTT_FIRST / 2 };
}

/* Delay of a packet relative to the earliest possible arrival. Half a wrap is 36 minutes. */
static co_usec lag(const struct srt_clock *c, uint32_t time, co_usec now)
{
    return -(co_usec)(int32_t)(time - (uint32_t)(now - c->base));
}

/* Extends a 32-bit timestamp to microseconds since the peer's zero, given the current time. */
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

/* Corrects the base for clock drift. The delay from the peer may have grown too; half of the round
 * trip's growth is attributed to it. */
static void correct(struct srt_clock *c)
{
    co_usec rtt = c->rtt_sum / c->samples, drift;

    c->usual = c->has_usual ? c->usual : rtt;
    c->has_usual = true;
    drift = c->drift_sum / c->samples - (rtt - c->usual) / 2;
    if (llabs(drift) > DRIFT_SEEN)
        c->base += drift;
}

/* Takes the sample of a response that arrived after a round trip and carries the peer's time. */
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

/* An ACK that awaits its ACKACK. */
struct srt_ack_sent {
    uint32_t number;   /* 0: none */
    bool repeated;        /* sent more than once, so it does not measure the round trip */
    uint64_t front;
    co_usec at;
};

struct srt_gap {
    uint64_t first, end;
};

/* State of the ACKs and NAKs to send. */
struct srt_receiver_reports {
    uint32_t number;       /* number of the last ACK */
    uint64_t front, light; /* front in the last full ACK; in the last full or light ACK */
    uint64_t confirmed;    /* highest front whose ACK was confirmed */
    co_usec acked_at;      /* CO_FOREVER: never */
    struct srt_ack_sent acks[SRT_ACKS];
    struct srt_gap gaps[SRT_NEW_GAPS]; /* new gaps, not yet reported to the peer */
    unsigned n_gaps;
    co_usec nak_at;        /* time of the next NAK with all missing packets; CO_FOREVER: nothing is
                            * missing */
};

/* Undecryptable packet: the number after it, and its time. */
struct srt_dark {
    uint64_t to;
    co_usec time;
};

struct srt_receiver {
    struct srt_receiver_opts set;
    struct srt_receiver_stat stat;
    struct srt_recv_window held;
    struct srt_clock clock;
    struct srt_receiver_reports reports;
    struct srt_recv_window_packet *given;
    bool hole, began;
    co_usec began_at, far_since; /* CO_FOREVER: not set */
    struct srt_dark dark, darker; /* the one that is waited for, and the newest one */
    co_usec rate_at;
    uint64_t rate_packets, rate_bytes;
};

static uint32_t srt_receiver_seq(const struct srt_receiver *r, uint64_t n)
{
    return srt_seq_add(r->set.first_seq, (int64_t)n);
}

/* ---- ACKs and NAKs */

enum { LIGHT_EVERY = 64 };
#define ACK_FIRST CO_MS(10) /* during the first second */
#define ACK_EVERY CO_MS(50)
#define NAK_LEAST CO_MS(20)

static void srt_receiver_reports_init(struct srt_receiver *r)
{
    struct srt_receiver_reports *s = &r->reports;

    s->front = s->light = s->confirmed = SRT_RECV_WINDOW_FIRST;
    s->acked_at = s->nak_at = CO_FOREVER;
}

/* ---- ACK */

static co_usec patience(const struct srt_receiver *r)
{
    return r->clock.rtt + 4 * r->clock.variance;
}

static struct srt_ack_sent *ack_of(struct srt_receiver_reports *s, uint32_t number)
{
    return &s->acks[number % SRT_ACKS];
}

/* Time of the next ACK; CO_FOREVER if the peer has confirmed the acknowledgement of everything that
 * arrived in order. */
static co_usec ack_due(const struct srt_receiver *r)
{
    const struct srt_receiver_reports *s = &r->reports;
    bool repeated = r->held.front == s->front;
    co_usec every = ACK_EVERY;

    if (r->held.front == s->confirmed)
        return CO_FOREVER;
    if (s->acked_at == CO_FOREVER)
        return 0;
    if (s->acked_at - r->began_at < CO_SECONDS(1))
        every = ACK_FIRST;
    if (repeated && patience(r) > every)
        every = patience(r);
    return s->acked_at + every;
}

static bool light_is_due(const struct srt_receiver *r)
{
    return r->held.front >= r->reports.light + LIGHT_EVERY;
}

static size_t write_report(const struct srt_receiver *r, uint16_t type, uint32_t info, size_t body,
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

/* Assigns the number of an ACK. A new ACK gets a new number; a retransmitted one keeps its number,
 * because some peers respond to only some of the ACKs. */
static uint32_t number_ack(struct srt_receiver *r, co_usec now)
{
    struct srt_receiver_reports *s = &r->reports;
    bool repeated = r->held.front == s->front && s->number > 0;

    if (!repeated && ++s->number == 0)
        s->number = 1;
    *ack_of(s, s->number) = (struct srt_ack_sent){ s->number, repeated, r->held.front, now };
    s->front = s->light = r->held.front;
    s->acked_at = now;
    return s->number;
}

static uint32_t limit32(uint64_t v)
{
    return v < UINT32_MAX ? (uint32_t)v : UINT32_MAX;
}

static size_t write_ack(struct srt_receiver *r, uint8_t *out, co_usec now)
{
    struct srt_ack a = { .words = 7, .next = srt_receiver_seq(r, r->held.front) };
    uint32_t number = number_ack(r, now);

    a.rtt = (uint32_t)r->clock.rtt;
    a.variance = (uint32_t)r->clock.variance;
    a.room = room(&r->held);
    a.packets = a.link = limit32(r->stat.rate);
    a.bytes = limit32(r->stat.payload_rate);
    return write_report(r, SRT_ACK, number, srt_ack_write(&a, out + SRT_HEADER), now, out);
}

static size_t write_light_ack(struct srt_receiver *r, uint8_t *out, co_usec now)
{
    struct srt_ack a = { .words = 1, .next = srt_receiver_seq(r, r->held.front) };

    r->reports.light = r->held.front;
    return write_report(r, SRT_ACK, 0, srt_ack_write(&a, out + SRT_HEADER), now, out);
}

void srt_receiver_ackack(struct srt_receiver *r, uint32_t number, uint32_t time, co_usec now)
{
    struct srt_receiver_reports *s = &r->reports;
    struct srt_ack_sent *a = ack_of(s, number);

    if (number == 0 || a->number != number)
        return; /* already confirmed, too old, or never sent */
    if (a->front > s->confirmed)
        s->confirmed = a->front;
    if (!a->repeated)
        srt_clock_sample(&r->clock, now - a->at, time, now);
    a->number = 0;
}

/* ---- NAK */

static co_usec nak_every(const struct srt_receiver *r)
{
    co_usec half = patience(r) / 2;

    return half > NAK_LEAST ? half : NAK_LEAST;
}

/* Records the new gap [first, end). */
static void srt_receiver_reports_gap(struct srt_receiver *r, uint64_t first, uint64_t end,
                                     co_usec now)
{
    struct srt_receiver_reports *s = &r->reports;

    if (s->n_gaps < SRT_NEW_GAPS)
        s->gaps[s->n_gaps++] = (struct srt_gap){ first, end };
    else
        s->gaps[s->n_gaps - 1].end = end; /* packets between them that arrived are skipped when the
                                           * NAK is written */
    if (s->nak_at == CO_FOREVER)
        s->nak_at = now + nak_every(r);
}

/* Called when a packet arrived or could not be stored. */
static void srt_receiver_reports_put(struct srt_receiver *r, co_usec now)
{
    struct srt_receiver_reports *s = &r->reports;

    if (srt_recv_window_misses(&r->held) == 0)
        s->nak_at = CO_FOREVER;
    else if (s->nak_at == CO_FOREVER)
        s->nak_at = now + nak_every(r);
}

/* List of the missing packets in [from, end). */
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
            return false; /* full: the rest follows in the next complete NAK */
        l->size += n;
        l->entries++;
    }
    return true;
}

static size_t write_nak(struct srt_receiver *r, uint8_t *out, co_usec now)
{
    struct srt_receiver_reports *s = &r->reports;
    struct list l = { out + SRT_HEADER, 0, 0 };

    if (s->n_gaps == 0) {
        (void)list_missing(r, &l, r->held.next, r->held.head);
        s->nak_at = l.size ? now + nak_every(r) : CO_FOREVER;
    }
    for (unsigned i = 0; i < s->n_gaps; i++)
        if (!list_missing(r, &l, s->gaps[i].first, s->gaps[i].end))
            break;
    s->n_gaps = 0;
    return l.size ? write_report(r, SRT_NAK, 0, l.size, now, out) : 0;
}

/* ---- output */

size_t srt_receiver_output(struct srt_receiver *r, uint8_t out[SRT_PACKET_MAX], co_usec now)
{
    const struct srt_receiver_reports *s = &r->reports;
    co_usec ack = ack_due(r);
    size_t n = 0;

    if (ack != CO_FOREVER && now >= ack)
        return write_ack(r, out, now);
    if (s->n_gaps > 0)
        n = write_nak(r, out, now);
    if (n == 0 && s->nak_at != CO_FOREVER && now >= s->nak_at)
        n = write_nak(r, out, now);
    if (n == 0 && light_is_due(r))
        n = write_light_ack(r, out, now);
    return n;
}

static co_usec srt_receiver_reports_deadline(const struct srt_receiver *r)
{
    const struct srt_receiver_reports *s = &r->reports;
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
    srt_receiver_reports_init(r);
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

/* ---- receiving */

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
    r->stat.retransmitted += p->retransmitted;
    rate(r, p->size, now);
}

/* Handles a packet that no correct peer sends. Returns false, which ends the connection, if nothing
 * else arrived for FAR_MOST. */
static bool is_far(struct srt_receiver *r, co_usec now)
{
    r->stat.far++;
    if (r->far_since == CO_FOREVER)
        r->far_since = now;
    return now - r->far_since < FAR_MOST;
}

/* Everything below `to` has been sent, so missing packets in it are reported as a gap. */
static void reach(struct srt_receiver *r, uint64_t to, uint64_t missing_to, co_usec now)
{
    struct srt_recv_window *h = &r->held;

    if (missing_to > h->head) {
        r->stat.lost += missing_to - h->head;
        srt_receiver_reports_gap(r, h->head, missing_to, now);
    }
    srt_recv_window_reach(h, to);
}

/* Whether the packet cannot be decrypted: unencrypted although we have a key, encrypted although we
 * have none, or with an unknown key. */
static bool is_undecryptable(const struct srt_receiver *r, const struct srt_packet *p)
{
    struct srt_cipher *c = r->set.cipher;

    if (p->key != SRT_EVEN && p->key != SRT_ODD)
        return c || p->key != SRT_CLEAR;
    return !c || !srt_cipher_has(c, p->key);
}

/* The packet stays missing and may be retransmitted when its key is known. It delays later packets
 * no longer than until its own playback time. */
static void note_undecryptable(struct srt_receiver *r, uint64_t n, co_usec time)
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
        return; /* counts as lost */
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
    if (is_undecryptable(r, p))
        note_undecryptable(r, n, time);
    else
        keep(r, p, n, time);
    srt_receiver_reports_put(r, now);
    return true;
}

void srt_receiver_drop(struct srt_receiver *r, const struct srt_range *range, co_usec now)
{
    struct srt_recv_window *h = &r->held;
    uint64_t first = number_of(r, range->first), end = number_of(r, range->last) + 1;

    if (first >= end || end <= h->next)
        return; /* invalid or too late */
    if (end > h->next + h->window) {
        r->stat.far++;
        return;
    }
    first = first < h->next ? h->next : first;
    if (end > h->head)
        reach(r, end, first, now);
    r->stat.dropped += srt_recv_window_give_up(h, first, end);
}

/* ---- delivery */

/* Time at which undecryptable packets are given up if no later packet arrives. */
static co_usec undecryptable_due(const struct srt_receiver *r)
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

/* Called when no packet is in the window: gives up undecryptable packets whose time has come. */
static void pass_rest(struct srt_receiver *r, co_usec now)
{
    struct srt_recv_window *h = &r->held;
    co_usec due;

    while ((due = undecryptable_due(r)) != CO_FOREVER && now >= due) {
        r->stat.dropped += srt_recv_window_give_up(h, h->next, r->dark.to);
        pass(r, h->front);
        r->dark = r->darker;
    }
    pass(r, h->front);
}

/* Whether the missing packets in [next, n) can be skipped. */
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
        return undecryptable_due(r);
    if (h->front < n && !r->set.drop_late)
        return CO_FOREVER;
    return r->set.tsbpd || h->front < n ? due_of(r, p) : 0;
}

co_usec srt_receiver_deadline(const struct srt_receiver *r)
{
    co_usec report = srt_receiver_reports_deadline(r), due = next_due(r);

    if (report == CO_FOREVER || due == CO_FOREVER)
        return report == CO_FOREVER ? due : report;
    return report < due ? report : due;
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
