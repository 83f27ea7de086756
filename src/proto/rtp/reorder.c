/* SPDX-License-Identifier: MIT */
/* reorder.c - puts packets in order. */
#include "proto/rtp/reorder.h"

#include "base/mem.h"
#include "base/must.h"
#include "proto/rtp/header.h"

#include <stdlib.h>
#include <string.h>

struct rtp_early {
    uint8_t *data; /* NULL: none */
    size_t size;
    int64_t seq;
    co_usec at;
};

void rtp_reorder_init(struct rtp_reorder *r, unsigned window, co_usec wait)
{
    unsigned n = 1;

    while (n < window && n < RTP_REORDER_MAX)
        n *= 2;
    *r = (struct rtp_reorder){ .window = n, .wait = wait };
}

static struct rtp_early *slot(const struct rtp_reorder *r, int64_t seq)
{
    return &r->early[(uint64_t)seq & (r->window - 1)];
}

static bool has(const struct rtp_reorder *r, int64_t seq)
{
    return r->held > 0 && slot(r, seq)->data && slot(r, seq)->seq == seq;
}

static void drop_given(struct rtp_reorder *r)
{
    free(r->given);
    r->given = NULL;
}

void rtp_reorder_fini(struct rtp_reorder *r)
{
    for (unsigned i = 0; r->early && i < r->window; i++)
        free(r->early[i].data);
    free(r->early);
    r->early = NULL;
    r->held = 0;
    drop_given(r);
}

/* Detects a restart of the numbering: two consecutive distant numbers. */
static bool restarts(struct rtp_reorder *r, uint16_t seq)
{
    bool again = r->jumped && seq == r->jump;

    r->jumped = !again;
    r->jump = (uint16_t)(seq + 1);
    return again;
}

static void begin(struct rtp_reorder *r, uint16_t seq)
{
    r->restarts += r->started;
    r->restart = r->started;
    r->started = true;
    r->jumped = false;
    r->next = seq;
}

/* Drops the waiting packets after a restart. */
static void drop_early(struct rtp_reorder *r)
{
    for (unsigned i = 0; r->held > 0 && i < r->window; i++) {
        free(r->early[i].data);
        r->late += r->early[i].data != NULL;
        r->early[i].data = NULL;
    }
    r->held = 0;
    r->held_bytes = 0;
}

bool rtp_reorder_put(struct rtp_reorder *r, uint16_t seq, const uint8_t *data, size_t size,
                     co_usec now)
{
    int64_t full = rtp_unwrap16(r->next, seq), ahead = full - r->next;
    bool far = ahead > RTP_RESTART || ahead < -RTP_RESTART;

    (void)now;
    if (!r->started) {
        begin(r, seq);
        full = seq;
    } else if (far && r->window > 1 && !restarts(r, seq)) {
        r->far++;
        return false;
    } else if (far || (ahead < 0 && r->window == 1)) {
        drop_early(r);
        begin(r, seq);
        full = seq;
    } else if (ahead < 0 || has(r, full)) {
        r->late++;
        return false;
    }
    r->jumped = r->jumped && far;
    r->in = data;
    r->in_size = size;
    r->in_seq = full;
    return true;
}

static void deliver(struct rtp_reorder *r, const uint8_t *data, size_t size,
                    struct rtp_ordered *out)
{
    *out = (struct rtp_ordered){ .data = data, .size = size, .seq = r->next, .lost = r->skipped,
                                 .restart = r->restart };
    r->skipped = 0;
    r->restart = false;
    r->next++;
}

static void find_since(struct rtp_reorder *r)
{
    bool any = false;

    for (unsigned i = 0; i < r->window; i++) {
        if (r->early[i].data && (!any || r->early[i].at < r->since)) {
            r->since = r->early[i].at;
            any = true;
        }
    }
}

static void deliver_early(struct rtp_reorder *r, struct rtp_ordered *out)
{
    struct rtp_early *e = slot(r, r->next);

    r->given = e->data;
    e->data = NULL;
    r->held--;
    r->held_bytes -= e->size;
    deliver(r, r->given, e->size, out);
    if (r->held > 0 && !has(r, r->next))
        find_since(r);
}

/* Skips the gap: continues with the first number that is available. */
static void skip(struct rtp_reorder *r)
{
    int64_t to = r->in ? r->in_seq : INT64_MAX;

    for (unsigned i = 0; r->held > 0 && i < r->window; i++) {
        if (r->early[i].data && r->early[i].seq < to)
            to = r->early[i].seq;
    }
    r->skipped += (uint64_t)(to - r->next);
    r->next = to;
}

const uint8_t *rtp_reorder_find(const struct rtp_reorder *r, int64_t seq, size_t *size)
{
    if (!has(r, seq))
        return NULL;
    *size = slot(r, seq)->size;
    return slot(r, seq)->data;
}

void rtp_reorder_skip_to(struct rtp_reorder *r, int64_t seq)
{
    for (unsigned i = 0; r->held > 0 && i < r->window; i++) {
        struct rtp_early *e = &r->early[i];

        if (!e->data || e->seq >= seq)
            continue;
        free(e->data);
        e->data = NULL;
        r->held--;
        r->held_bytes -= e->size;
        r->late++;
    }
    if (seq <= r->next)
        return;
    r->skipped += (uint64_t)(seq - r->next);
    r->next = seq;
    if (r->held > 0 && !has(r, seq))
        find_since(r);
}

static bool fits(const struct rtp_reorder *r)
{
    return r->in_seq - r->next < r->window && r->held_bytes + r->in_size <= RTP_REORDER_BYTES;
}

/* Keeps a copy of an early packet. If memory allocation fails, it counts as lost. */
static void hold(struct rtp_reorder *r, co_usec now)
{
    struct rtp_early *e;
    uint8_t *copy = mem_try(r->in_size ? r->in_size : 1);

    if (!r->early)
        r->early = must(calloc(r->window, sizeof(r->early[0])));
    e = slot(r, r->in_seq);
    if (copy) {
        memcpy(copy, r->in, r->in_size);
        *e = (struct rtp_early){ .data = copy, .size = r->in_size, .seq = r->in_seq, .at = now };
        r->since = r->held ? r->since : now;
        r->held++;
        r->held_bytes += r->in_size;
        r->reordered++;
    }
    r->in = NULL;
}

bool rtp_reorder_next(struct rtp_reorder *r, co_usec now, struct rtp_ordered *out)
{
    drop_given(r);
    for (;;) {
        if (r->in && r->in_seq == r->next) {
            deliver(r, r->in, r->in_size, out);
            r->in = NULL;
            return true;
        }
        if (has(r, r->next)) {
            deliver_early(r, out);
            return true;
        }
        if (r->in && fits(r))
            hold(r, now);
        else if (r->in || (r->held > 0 && now - r->since >= r->wait))
            skip(r);
        else
            return false;
    }
}

co_usec rtp_reorder_deadline(const struct rtp_reorder *r)
{
    return r->held > 0 ? r->since + r->wait : CO_FOREVER;
}
