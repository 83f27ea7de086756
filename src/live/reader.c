/* SPDX-License-Identifier: MIT */
/* reader.c - a cursor over the packets of a source. */
#include "live/reader.h"

#include "live/impl.h"

#include <string.h>

enum { CACHE_LINE = 64, AHEAD = 4 * CACHE_LINE };

void live_reader_open(struct live_reader *r, struct live_source *src)
{
    *r = (struct live_reader){ .src = live_source_ref(src), .seq = src->head };
    if (src->have_key && src->key >= src->first) {
        r->seq = src->key;
        r->started = r->at_key = true;
    }
    r->next = src->readers;
    r->prev = &src->readers;
    if (r->next)
        r->next->prev = &r->next;
    src->readers = r;
}

void live_reader_close(struct live_reader *r)
{
    if (!r->src)
        return;
    *r->prev = r->next;
    if (r->next)
        r->next->prev = r->prev;
    r->src = live_source_unref(r->src);
}

/* Stand at a packet to start at. False: there is none yet. */
static bool seek(struct live_reader *r)
{
    const struct live_source *src = r->src;
    uint64_t to = r->seq > src->first ? r->seq : src->first;

    if (r->seq >= src->first && r->at_key)
        return true;
    while (to < src->head && !src->ring[to % src->cap]->start)
        to++;
    r->at_key = to < src->head;
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
    const struct live_source *src = r->src;

    if (!seek(r) || r->seq >= src->head)
        return NULL;
    if (r->seq + 1 < src->head) /* it came a while ago, and has to come from far */
        fetch_ahead(src->ring[(r->seq + 1) % src->cap]);
    return src->ring[r->seq++ % src->cap];
}

size_t live_reader_configs(const struct live_reader *r, const struct av_packet **out, size_t max)
{
    const struct live_source *src = r->src;
    const struct live_configs *c = &src->configs;
    size_t n;

    if (src->have_key && r->seq <= src->key + 1)
        c = src->key_configs;
    n = c->n < max ? c->n : max;
    memcpy(out, c->v, n * sizeof(out[0]));
    return n;
}

enum co_wake live_reader_wait(struct live_reader *r, co_usec timeout)
{
    enum co_wake wake = CO_WOKEN;

    if (r->seq >= r->src->head) {
        r->co = co_self();
        wake = co_park(timeout);
        r->co = NULL;
    }
    return wake;
}

uint64_t live_readers_oldest(const struct live_source *src)
{
    uint64_t oldest = src->head;

    for (const struct live_reader *r = src->readers; r; r = r->next) {
        if (r->seq < oldest)
            oldest = r->seq;
    }
    return oldest;
}

void live_readers_wake(struct live_source *src)
{
    for (struct live_reader *r = src->readers; r; r = r->next) {
        if (r->co)
            co_unpark(r->co);
    }
}
