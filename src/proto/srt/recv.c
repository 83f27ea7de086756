/* SPDX-License-Identifier: MIT */
/* recv.c - one who sends to us: what comes, what goes on, what is given up. What is said to the
 * peer is in recv_say.c. */
#include "proto/srt/recv_own.h"

#include "base/mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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
    r->dark.to = r->darker.to = SRT_HELD_FIRST;
    srt_clock_init(&r->clock, opts->base);
    srt_receiver_says_init(r);
    if (srt_held_init(&r->held, window < WINDOW_MOST ? window : WINDOW_MOST))
        return r;
    free(r);
    return NULL;
}

void srt_receiver_free(struct srt_receiver *r)
{
    if (!r)
        return;
    srt_held_fini(&r->held);
    free(r->given);
    free(r);
}

bool srt_receiver_drain(struct srt_receiver *r)
{
    return srt_held_drain(&r->held);
}

static uint64_t number_of(const struct srt_receiver *r, uint32_t seq)
{
    int32_t ahead = srt_seq_distance(srt_receiver_seq(r, r->held.next), seq);

    return (uint64_t)((int64_t)r->held.next + ahead);
}

static co_usec due_of(const struct srt_receiver *r, const struct srt_held_packet *p)
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
    struct srt_held *h = &r->held;

    if (missing_to > h->head) {
        r->stat.lost += missing_to - h->head;
        srt_receiver_says_gap(r, h->head, missing_to, now);
    }
    srt_held_reach(h, to);
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
    struct srt_held_packet *held = mem_try(sizeof(*held) + p->size);

    if (!held)
        return; /* as if it were lost */
    held->time = time;
    held->size = (uint32_t)p->size;
    if (r->set.cipher)
        srt_cipher_run(r->set.cipher, p->key, p->seq, p->body, held->data, p->size);
    else if (p->size)
        memcpy(held->data, p->body, p->size);
    if (!srt_held_put(&r->held, n, held))
        free(held);
}

bool srt_receiver_put(struct srt_receiver *r, const struct srt_packet *p, co_usec now)
{
    struct srt_held *h = &r->held;
    uint64_t n = number_of(r, p->seq);
    co_usec time;

    count(r, p, now);
    if (n >= h->next + h->window || n + FAR_BEHIND < h->next || p->size > SRT_PAYLOAD_MAX)
        return is_far(r, now);
    r->far_since = CO_FOREVER;
    if (n < h->head && srt_held_is_gone(h, n)) {
        r->stat.belated++;
        return true;
    }
    if (n < h->next || (n < h->head && srt_held_has(h, n))) {
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
    struct srt_held *h = &r->held;
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
    r->stat.dropped += srt_held_give_up(h, first, end);
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
        srt_held_pass(&r->held, to);
    }
}

/* Nothing is here any more; the rest may be of no use. */
static void pass_rest(struct srt_receiver *r, co_usec now)
{
    struct srt_held *h = &r->held;
    co_usec due;

    while ((due = dark_due(r)) != CO_FOREVER && now >= due) {
        r->stat.dropped += srt_held_give_up(h, h->next, r->dark.to);
        pass(r, h->front);
        r->dark = r->darker;
    }
    pass(r, h->front);
}

/* Of [next, n), which is not here: may it be left behind? */
static bool may_pass(struct srt_receiver *r, uint64_t n, co_usec due, co_usec now)
{
    struct srt_held *h = &r->held;

    if (h->front < n) {
        if (!r->set.drop_late || now < due)
            return false;
        r->stat.dropped += srt_held_give_up(h, h->next, n);
    }
    return true;
}

bool srt_receiver_next(struct srt_receiver *r, struct srt_message *m, co_usec now)
{
    struct srt_held *h = &r->held;
    const struct srt_held_packet *p;
    uint64_t n;
    co_usec due;

    free(r->given);
    r->given = NULL;
    if (h->next == h->head)
        return false;
    p = srt_held_first(h, &n);
    if (!p) {
        pass_rest(r, now);
        return false;
    }
    due = due_of(r, p);
    if (!may_pass(r, n, due, now) || (r->set.tsbpd && now < due))
        return false;
    pass(r, n);
    r->given = srt_held_take(h);
    *m = (struct srt_message){ .data = r->given->data, .size = r->given->size, .hole = r->hole,
                               .due = r->set.tsbpd ? due : due - r->set.latency };
    r->hole = false;
    return true;
}

static co_usec next_due(const struct srt_receiver *r)
{
    const struct srt_held *h = &r->held;
    const struct srt_held_packet *p;
    uint64_t n;

    p = srt_held_first(h, &n);
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
    const struct srt_held_packet *first, *last;
    uint64_t n;

    *out = r->stat;
    out->held = r->held.held;
    first = srt_held_first(&r->held, &n);
    last = srt_held_last(&r->held);
    out->held_time = first ? last->time - first->time : 0;
    out->rtt = r->clock.rtt;
    out->variance = r->clock.variance;
}
