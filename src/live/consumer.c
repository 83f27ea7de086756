/* SPDX-License-Identifier: MIT */
/* consumer.c - a player's cursor into a wire. */
#include "live/consumer.h"

#include "base/container_of.h"
#include "live/impl.h"

#include <assert.h>
#include <string.h>

static void wait_for_key(struct live_consumer *c)
{
    struct live_consumer **head = &c->wire->waiting;

    c->waits_since = co_now();
    c->wait_next = *head;
    c->wait_prev = head;
    if (*head)
        (*head)->wait_prev = &c->wait_next;
    *head = c;
}

static void wait_no_more(struct live_consumer *c)
{
    if (!c->wait_prev)
        return;
    *c->wait_prev = c->wait_next;
    if (c->wait_next)
        c->wait_next->wait_prev = c->wait_prev;
    c->wait_prev = NULL;
}

void live_consumer_seek(struct live_consumer *c, struct live_block *b, uint32_t offset)
{
    struct live_block *old = c->block;

    if (b)
        (void)live_block_ref(b);
    wait_no_more(c);
    c->block = b;
    c->offset = offset;
    if (!b)
        wait_for_key(c);
    (void)live_block_unref(c->src, old);
}

void live_consumer_start(struct live_consumer *c, int64_t dts)
{
    (void)live_configs_unref(c->configs);
    c->configs = live_configs_ref(c->src->key_configs);
    c->start_dts = dts;
}

void live_consumer_drop(struct live_consumer *c, uint64_t packets)
{
    c->dropped += packets;
    c->src->dropped += packets;
}

static struct live_span span_of(const struct live_wire *w)
{
    return (struct live_span){ .first = w->first ? w->first->seq : w->head, .key = w->key_seq,
                               .have_key = w->key_block, .head = w->head };
}

static void seek_key(struct live_consumer *c)
{
    const struct live_wire *w = c->wire;

    live_consumer_seek(c, w->key_block, w->key_offset);
    c->seq = w->key_seq;
    live_consumer_start(c, c->src->key_dts);
}

void live_consumer_open(struct live_consumer *c, struct live_source *src,
                        const struct live_format *fmt, const uint32_t param[LIVE_PARAMS])
{
    struct live_span span;

    live_source_pull(src);
    *c = (struct live_consumer){ .src = live_source_ref(src) };
    c->wire = live_wire_get(src, fmt, param, co_now());
    c->config_due = true;
    live_consumer_seek(c, NULL, 0);
    span = span_of(c->wire);
    if (live_policy_join(&span, src->set.gop_cache, &c->seq)) {
        seek_key(c);
        c->started = true;
    }
    src->consumers++;
    src->idle_since = 0;
}

void live_consumer_close(struct live_consumer *c)
{
    if (!c->src)
        return;
    live_consumer_unpark(c);
    wait_no_more(c);
    c->block = live_block_unref(c->src, c->block);
    c->configs = live_configs_unref(c->configs);
    live_wire_put(c->wire);
    if (--c->src->consumers == 0)
        c->src->idle_since = co_now();
    c->src = live_source_unref(c->src);
    c->wire = NULL;
}

bool live_consumer_reopen(struct live_consumer *c, struct live_source *src,
                          const struct live_format *fmt, const uint32_t param[LIVE_PARAMS])
{
    struct live_consumer at = { 0 };
    bool stays;

    live_consumer_open(&at, src, fmt, param);
    stays = c->src && c->wire == at.wire && c->block && at.block && c->seq > at.seq;
    if (!stays) {
        live_consumer_close(c);
        live_consumer_open(c, src, fmt, param);
    }
    live_consumer_close(&at);
    return stays;
}

uint64_t live_consumer_pending(const struct live_consumer *c)
{
    return c->src->head - c->seq;
}

/* The list is sorted by wake_seq. A player that parks later usually waits for a later packet, so
 * the walk starts at the front, over the few cursors that are woken by the next packets. */
void live_consumer_park(struct live_consumer *c, uint64_t packets,
                        void (*on_packets)(struct live_consumer *c))
{
    struct live_source *src = c->src;
    struct live_consumer **at = src->parked_end;

    assert(!c->prev);
    c->on_packets = on_packets;
    c->wake_seq = c->seq + (packets ? packets : 1);
    if (src->parked) {
        struct live_consumer *last = container_of(at, struct live_consumer, next);

        if (last->wake_seq > c->wake_seq) {
            at = &src->parked;
            while ((*at)->wake_seq <= c->wake_seq)
                at = &(*at)->next;
        }
    }
    c->next = *at;
    c->prev = at;
    *at = c;
    if (c->next)
        c->next->prev = &c->next;
    else
        src->parked_end = &c->next;
    if (src->tap && src->parked == c)
        live_tap_request(src);
}

static void wake_co(struct live_consumer *c)
{
    co_unpark(c->co);
}

void live_consumer_park_me(struct live_consumer *c, uint64_t packets)
{
    c->co = co_self();
    live_consumer_park(c, packets, wake_co);
}

void live_consumer_unpark(struct live_consumer *c)
{
    struct live_source *src = c->src;
    bool first;

    if (!c->prev)
        return;
    first = c->prev == &src->parked;
    *c->prev = c->next;
    if (c->next)
        c->next->prev = c->prev;
    else
        src->parked_end = c->prev;
    c->prev = NULL;
    if (src->tap && first)
        live_tap_unrequest(src);
}

size_t live_consumer_config(struct live_consumer *c, const struct av_packet **out, size_t max,
                            int64_t *dts)
{
    size_t n;

    if (!c->config_due || !c->block)
        return 0;
    c->config_due = false;
    *dts = c->start_dts;
    n = c->configs->n < max ? c->configs->n : max;
    memcpy(out, c->configs->v, n * sizeof(out[0]));
    return n;
}

/* Returns the number of packets of the block that end at or before `offset`. */
static uint32_t packets_before(const struct live_block *b, uint32_t offset)
{
    uint32_t low = 0, high = b->n;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;

        if (b->ends[mid] <= offset)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Returns the end of the packet that holds the byte at `offset` or begins there. */
static uint32_t packet_end(const struct live_block *b, uint32_t offset)
{
    uint32_t k = packets_before(b, offset);

    return k < b->n ? b->ends[k] : b->used;
}

/* Estimates the arrival of the next packet to send. */
static co_usec came_at(const struct live_consumer *c)
{
    const struct live_block *b = c->block;
    uint32_t before = packets_before(b, c->offset);

    return b->n ? b->begun_at + (b->newest_at - b->begun_at) * before / b->n : b->begun_at;
}

co_usec live_consumer_lag(const struct live_consumer *c)
{
    const struct live_source *src = c->src;
    co_usec lag;

    if (!c->block || live_consumer_pending(c) == 0)
        return 0;
    if (c->seq >= src->first)
        lag = (src->clock.last - src->ring[c->seq % src->cap]->dts) * 100 / 9;
    else
        lag = src->clock.last_at - came_at(c);
    return lag > 0 ? lag : 0;
}

static bool at_boundary(const struct live_block *b, uint32_t offset)
{
    uint32_t k = packets_before(b, offset);

    return offset == 0 || (k > 0 && b->ends[k - 1] == offset);
}

/* Skips everything up to the head. */
static void skip_to_end(struct live_consumer *c)
{
    if (c->started)
        live_consumer_drop(c, c->wire->head - c->seq);
    c->seq = c->wire->head;
}

/* Skips packets because the next one, `at`, has left the log. Returns true if the cursor has a
 * position again. */
static bool skip(struct live_consumer *c, uint64_t at)
{
    struct live_span span = span_of(c->wire);
    enum live_position position = live_policy_late(&span, at);

    if (position == LIVE_GO_ON && c->wire->first) { /* it had just finished its block */
        live_consumer_seek(c, c->wire->first, 0);
        return true;
    }
    c->config_due |= c->src->configs_seq >= at;
    c->seq = at;
    if (position == LIVE_AT_KEY) {
        seek_key(c);
        live_consumer_drop(c, c->seq - at);
        return true;
    }
    live_consumer_seek(c, NULL, 0);
    skip_to_end(c);
    return false;
}

/* Finds a position for a cursor without a block, or whose block left the wire. Returns true if it
 * has one. */
static bool find_position(struct live_consumer *c)
{
    if (!c->block) {
        skip_to_end(c);
        return false;
    }
    if (!c->block->detached || !at_boundary(c->block, c->offset))
        return true;
    return skip(c, c->block->seq + packets_before(c->block, c->offset));
}

static int rendered_ranges(struct live_consumer *c, struct iovec *iov, int max, bool one)
{
    uint32_t offset = c->offset;
    struct live_block *b;
    int n = 0;

    if (!find_position(c))
        return 0;
    offset = c->offset;
    b = c->block;
    if (b->detached || (one && offset < b->used)) {
        iov[0] = (struct iovec){ b->data + offset, packet_end(b, offset) - offset };
        return iov[0].iov_len > 0;
    }
    for (; b && n < max; b = b->next, offset = 0) {
        if (offset < b->used)
            iov[n++] = (struct iovec){ b->data + offset, b->used - offset };
        if (one && n > 0) {
            iov[0].iov_len = packet_end(b, offset) - offset;
            break;
        }
    }
    if (n == 0 && live_consumer_pending(c) > 0) /* this wire leaves out all pending packets */
        live_consumer_advance(c, 0);
    return n;
}

int live_consumer_ranges(struct live_consumer *c, struct iovec *iov, int max, bool one)
{
    int n = rendered_ranges(c, iov, max, one);

    if (n == 0 && live_wire_lags(c->wire)) {
        live_wire_more(c->wire, co_now());
        n = rendered_ranges(c, iov, max, one);
    }
    return n;
}

void live_consumer_advance(struct live_consumer *c, size_t sent)
{
    struct live_block *b = c->block;
    uint32_t offset = c->offset;

    c->src->out_bytes += sent;
    for (;;) {
        size_t left = b->used - offset;

        if (sent < left || !b->next)
            break;
        sent -= left;
        b = b->next;
        offset = 0;
    }
    assert(sent <= b->used - offset);
    offset += (uint32_t)sent;
    if (b != c->block)
        live_consumer_seek(c, b, offset);
    c->offset = offset;
    if (b == c->wire->last && offset == b->used)
        c->seq = c->wire->head;
    else
        c->seq = b->seq + packets_before(b, offset);
}
