/* SPDX-License-Identifier: MIT */
/* reader.c - a cursor over the packets of a source. */
#include "live/reader.h"

#include "base/list.h"
#include "live/impl.h"

#include <assert.h>
#include <string.h>

enum { CACHE_LINE = 64, AHEAD = 4 * CACHE_LINE };

void live_reader_open(struct live_reader *r, struct live_source *src)
{
    struct live_span log;

    live_source_pull(src);
    log = live_source_span(src);
    *r = (struct live_reader){ .src = live_source_ref(src), .end = UINT64_MAX };
    r->started = r->at_key = live_policy_join(&log, true, &r->seq);
    LIST_PUT(&src->readers, r);
}

void live_reader_close(struct live_reader *r)
{
    if (!r->src)
        return;
    LIST_TAKE(r);
    r->configs = live_configs_unref(r->configs);
    live_source_was_read(r->src);
    r->src = live_source_unref(r->src);
}

void live_reader_move(struct live_reader *to, struct live_reader *from)
{
    assert(from->src && !to->src && !from->co);
    LIST_TAKE(from);
    *to = *from;
    LIST_PUT(&to->src->readers, to);
    *from = (struct live_reader){ 0 };
}

/* Returns the packet before which it stops. */
static uint64_t limit(const struct live_reader *r)
{
    return r->end < r->src->head ? r->end : r->src->head;
}

/* Moves to a packet to start at. Returns false if there is none yet. */
static bool seek(struct live_reader *r)
{
    const struct live_source *src = r->src;
    uint64_t most = limit(r), to = r->seq > src->first ? r->seq : src->first;

    if (r->seq >= src->first && r->at_key)
        return true;
    while (to < most && !src->ring[to % src->cap]->start)
        to++;
    if (to > most) /* the log dropped everything up to its end and more */
        to = most;
    r->at_key = to < most;
    if (r->started)
        r->dropped += to - r->seq;
    r->seq = to;
    r->started |= r->at_key;
    return r->at_key;
}

static void fetch_ahead(const struct av_packet *pkt)
{
    for (size_t i = 0; i < AHEAD; i += CACHE_LINE)
        __builtin_prefetch((const char *)pkt + i);
}

const struct av_packet *live_reader_next(struct live_reader *r)
{
    struct live_source *src = r->src;
    const struct av_packet *pkt;

    if (r->seq >= src->head)
        live_source_pull(src);
    if (!seek(r) || r->seq >= limit(r))
        return NULL;
    if (r->seq + 1 < src->head) /* it arrived a while ago and is in no cache */
        fetch_ahead(src->ring[(r->seq + 1) % src->cap]);
    pkt = src->ring[r->seq++ % src->cap];
    if (r->configs && (pkt->config || pkt->extra))
        (void)live_configs_set(r->configs, pkt, false);
    return pkt;
}

static const struct live_configs *configs_of(const struct live_reader *r)
{
    const struct live_source *src = r->src;

    if (r->configs)
        return r->configs;
    return src->have_key && r->seq <= src->key + 1 ? src->key_configs : &src->configs;
}

size_t live_reader_configs(const struct live_reader *r, const struct av_packet **out, size_t max)
{
    const struct live_configs *c = configs_of(r);
    size_t n = c->n < max ? c->n : max;

    memcpy(out, c->v, n * sizeof(out[0]));
    return n;
}

/* The source's configurations will soon be the next publisher's, so the reader keeps its own. */
void live_reader_end(struct live_reader *r)
{
    if (live_reader_ended(r))
        return;
    r->configs = live_configs_snapshot(configs_of(r));
    r->end = r->src->head;
    if (r->co)
        co_unpark(r->co);
}

bool live_reader_ended(const struct live_reader *r)
{
    return r->end != UINT64_MAX;
}

bool live_reader_done(const struct live_reader *r)
{
    return r->seq >= r->end;
}

err_t live_reader_wait(struct live_reader *r, co_usec time)
{
    enum co_wake wake;

    if (live_reader_ended(r))
        return co_check();
    r->co = co_self();
    wake = co_park(time);
    r->co = NULL;
    return wake == CO_STOPPED ? co_check() : NULL;
}

/* Also wakes the caller if the reader has ended or the packets belong to another publisher, so that
 * the caller opens the next reader. */
void live_reader_park(const struct live_reader *r, struct live_consumer *wakeup,
                      void (*on_packets)(struct live_consumer *wakeup))
{
    wakeup->src = r->src;
    wakeup->seq = r->seq < r->src->head ? r->seq : r->src->head;
    live_consumer_park(wakeup, 1, on_packets);
    if (live_source_is_due(r->src))
        live_source_wake_soon(r->src);
}

uint64_t live_readers_oldest(const struct live_source *src)
{
    uint64_t oldest = src->head;

    for (const struct live_reader *r = src->readers; r; r = r->next) {
        if (r->seq < oldest && !live_reader_done(r))
            oldest = r->seq;
    }
    return oldest;
}

void live_readers_end(struct live_source *src)
{
    for (struct live_reader *r = src->readers; r; r = r->next)
        live_reader_end(r);
}
