/* SPDX-License-Identifier: MIT */
/* reading.c - reads a stream for wires that make their own packets. */
#include "wire/reading.h"

#include "base/container_of.h"

void wire_reading_init(struct wire_reading *r, const struct wire_reading_ops *ops,
                       struct live_source *src, size_t *counter)
{
    *r = (struct wire_reading){ .ops = ops, .src = live_source_ref(src), .counter = counter };
}

static void begin(struct wire_reading *r)
{
    live_reader_open(&r->reader, r->src);
    r->dropped = UINT64_MAX; /* forces configurations first */
    r->ops->begin(r);
}

static void end(struct wire_reading *r)
{
    if (r->ops->end)
        r->ops->end(r);
    wire_reading_unpark(r);
    live_reader_close(&r->reader);
    r->reader = (struct live_reader){ 0 };
}

void wire_reading_set(struct wire_reading *r, bool on)
{
    if (on == wire_reading_on(r))
        return;
    if (on)
        begin(r);
    else
        end(r);
}

void wire_reading_fini(struct wire_reading *r)
{
    wire_reading_set(r, false);
    wire_reading_count(r, 0);
    r->src = live_source_unref(r->src);
}

const struct av_packet *wire_reading_next(struct wire_reading *r, co_usec now)
{
    const struct av_packet *pkt, *configs[LIVE_CONFIGS];
    size_t n;

    if (live_reader_done(&r->reader)) {
        end(r);
        begin(r);
    }
    pkt = live_reader_next(&r->reader);
    if (!pkt || r->reader.dropped == r->dropped)
        return pkt;
    n = live_reader_configs(&r->reader, configs, LIVE_CONFIGS);
    r->dropped = r->reader.dropped;
    for (size_t i = 0; i < n; i++)
        r->ops->config(r, configs[i], now);
    return pkt;
}

static void on_wakeup(struct live_consumer *wakeup)
{
    struct wire_reading *r = container_of(wakeup, struct wire_reading, wakeup);

    r->on_packets(r);
}

void wire_reading_park(struct wire_reading *r, void (*on_packets)(struct wire_reading *r))
{
    r->on_packets = on_packets;
    live_reader_park(&r->reader, &r->wakeup, on_wakeup);
}

void wire_reading_unpark(struct wire_reading *r)
{
    live_consumer_unpark(&r->wakeup);
}

bool wire_reading_join(const struct wire_reading *r, const struct live_span *span, uint64_t *at)
{
    return live_policy_join(span, live_source_set(r->src).gop_cache, at);
}

co_usec wire_reading_came(const struct wire_reading *r, const struct av_packet *pkt, co_usec now)
{
    co_usec at = live_source_came(r->src, pkt->dts);

    return at < now ? at : now;
}

void wire_reading_count(struct wire_reading *r, size_t bytes)
{
    if (r->counter)
        *r->counter += bytes - r->counted;
    r->counted = bytes;
}
