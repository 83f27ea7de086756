/* SPDX-License-Identifier: MIT */
/* wire.c - renders a source's log into blocks, once for all players of a format. */
#include "live/wire.h"

#include "base/container_of.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/must.h"
#include "base/region.h"
#include "live/impl.h"
#include "live/deferred_free.h"

/* A block should hold about half a second: small enough that little is kept without use, large
 * enough that a merged write touches few. */
enum { BLOCK_MIN = 8 * 1024, BLOCK_MAX = 256 * 1024, ENDS = 32,
       MADE_MAX = 64 << 20, TRIM = 8 };

/* The first player may find a GOP of many megabytes. This much of it is rendered at a time, when
 * the first cursor gets there. */
enum { PORTION = 256 * 1024 };

struct live_block *live_block_ref(struct live_block *b)
{
    ref_get(&b->ref);
    return b;
}

static size_t size_of(const struct live_block *b)
{
    return sizeof(*b) + b->cap + b->ends_cap * sizeof(b->ends[0]);
}

static void free_block(struct live_block *b)
{
    free(b->ends);
    region_give(b, sizeof(*b) + b->cap);
}

struct live_block *live_block_unref(struct live_source *src, struct live_block *b)
{
    if (b && ref_put(&b->ref)) {
        live_source_charge(src, 0, size_of(b));
        free_block(b);
    }
    return NULL;
}

/* Returns NULL if memory is short. */
static struct live_block *new_block(struct live_wire *w, size_t need, uint64_t seq, co_usec now)
{
    size_t size = region_fit(sizeof(struct live_block) + need);
    struct live_block *b;

    size = size > w->next_size ? size : w->next_size;
    b = region_take(size);
    if (!b)
        return NULL;
    *b = (struct live_block){ .cap = (uint32_t)(size - sizeof(*b)), .seq = seq, .begun_at = now,
                              .newest_at = now };
    ref_init(&b->ref);
    if (w->last)
        w->last->next = b;
    else
        w->first = b;
    w->last = b;
    w->bytes += size_of(b);
    live_source_charge(w->src, size_of(b), 0);
    w->src->work.blocks++;
    return b;
}

static void fit_next(struct live_wire *w, const struct live_block *full, co_usec now)
{
    if (now - full->begun_at < CO_MS(250) && w->next_size < BLOCK_MAX)
        w->next_size *= 2;
    else if (now - full->begun_at > CO_MS(1000) && w->next_size > BLOCK_MIN)
        w->next_size /= 2;
}

/* Removes the oldest block from the wire and returns it. */
static struct live_block *take_first(struct live_wire *w)
{
    struct live_block *b = w->first;

    if (b == w->key_block)
        live_wire_forget_key(w);
    w->first = b->next;
    if (!w->first)
        w->last = NULL;
    w->bytes -= size_of(b);
    b->next = NULL;
    b->detached = true;
    return b;
}

/* Removes the oldest block. A cursor in it keeps its memory until it has finished its packet. */
static void detach_first(struct live_wire *w)
{
    (void)live_block_unref(w->src, take_first(w));
}

void live_wire_shrink(struct live_wire *w, size_t bytes)
{
    while (w->first != w->last && w->bytes > bytes)
        detach_first(w);
}

/* Blocks of a wire, to be freed. */
struct old_blocks {
    struct live_deferred_free deferred;
    struct live_block *first;
};

static bool free_first(struct live_deferred_free *r)
{
    struct old_blocks *old = container_of(r, struct old_blocks, deferred);
    struct live_block *b = old->first;

    if (!b) {
        free(old);
        return false;
    }
    old->first = b->next;
    free_block(b);
    return true;
}

/* Drops all blocks; players continue at the next key frame, like slow ones. */
static void drop_all(struct live_wire *w)
{
    struct old_blocks *old = NULL; /* freed in small steps if it is large */

    if (w->bytes >= LIVE_DEFERRED_BYTES) {
        old = must(malloc(sizeof(*old)));
        *old = (struct old_blocks){ .deferred.free_one = free_first };
    }
    while (w->first) {
        struct live_block *b = take_first(w);

        if (old && b->ref.n == 1) {
            live_source_charge(w->src, 0, size_of(b));
            b->next = old->first;
            old->first = b;
        } else {
            (void)live_block_unref(w->src, b);
        }
    }
    if (old)
        live_deferred_free(&old->deferred);
}

static struct live_kept_block kept(const struct live_wire *w, co_usec now)
{
    const struct live_block *b = w->first;

    return (struct live_kept_block){ .has_key = b == w->key_block, .in_use = b->ref.n > 1,
                                     .age = now - b->newest_at, .bytes = w->bytes };
}

static void trim(struct live_wire *w, co_usec now)
{
    for (int i = 0; i < TRIM && w->first != w->last; i++) { /* more than are added */
        struct live_kept_block oldest = kept(w, now);

        if (!live_policy_drops_block(&oldest, &w->src->set))
            break;
        detach_first(w);
    }
}

/* Makes space for the end offset of one more packet of the block; false if memory is short. */
static bool has_end(struct live_wire *w, struct live_block *b)
{
    uint32_t cap = b->ends_cap ? b->ends_cap * 2 : ENDS;
    size_t before = size_of(b);
    uint32_t *ends;

    if (b->n < b->ends_cap)
        return true;
    ends = mem_try_more(b->ends, cap * sizeof(ends[0]));
    if (!ends)
        return false;
    b->ends = ends;
    b->ends_cap = cap;
    w->bytes += size_of(b) - before;
    live_source_charge(w->src, size_of(b), before);
    return true;
}

/* Returns the block for a packet of that size: the last or a new one. NULL: memory is short. */
static struct live_block *block_for(struct live_wire *w, size_t size, uint64_t seq, co_usec now)
{
    struct live_block *b = w->last;

    if (!b || size > b->cap - b->used) {
        if (b)
            fit_next(w, b, now);
        b = new_block(w, size, seq, now);
    }
    return b && has_end(w, b) ? b : NULL;
}

/* Returns the rendered size of the packet; a stateful format renders it here. */
static size_t make(struct live_wire *w, const struct av_packet *pkt)
{
    if (!w->state)
        return w->fmt->size(w->param, pkt, pkt->dts);
    w->made.len = 0;
    w->fmt->make(w->state, pkt, &w->made);
    if (w->made.bad) { /* over the limit: the packet is left out */
        w->made.bad = ERR_OK;
        w->made.len = 0;
    }
    return w->made.len;
}

/* Records that a player may start at `offset` of the block. Waiting cursors start there, not at a
 * later key frame that arrives before their turn. */
static void set_key(struct live_wire *w, struct live_block *b, uint32_t offset, uint64_t seq,
                    int64_t dts)
{
    w->key_block = b;
    w->key_offset = offset;
    w->key_seq = seq;
    while (w->waiting) {
        struct live_consumer *c = w->waiting;

        live_consumer_seek(c, b, offset);
        if (c->started)
            live_consumer_drop(c, seq - c->seq);
        c->started = true;
        c->seq = seq;
        live_consumer_start(c, dts);
    }
}

static void append(struct live_wire *w, const struct av_packet *pkt, bool key, co_usec now)
{
    uint64_t seq = w->head++;
    size_t size = make(w, pkt);
    struct live_block *b = block_for(w, size, seq, now);

    if (!b) { /* memory is short */
        drop_all(w);
        return;
    }
    if (key)
        set_key(w, b, b->used + (w->fmt->behind ? (uint32_t)size : 0), seq, pkt->dts);
    if (size > 0 && w->state)
        memcpy(b->data + b->used, w->made.buf, size);
    else if (size > 0)
        w->fmt->render(w->param, pkt, pkt->dts, b->data + b->used);
    b->used += (uint32_t)size;
    b->newest_at = now;
    b->ends[b->n++] = b->used;
    w->src->work.rendered++;
    if (w->first != b)
        trim(w, now);
}

void live_wire_forget_key(struct live_wire *w)
{
    w->key_block = NULL;
}

void live_wire_push(struct live_wire *w, const struct av_packet *pkt, bool key, co_usec now)
{
    if (!live_wire_lags(w))
        append(w, pkt, key, now);
    else if (key) /* the wire's key frame is no longer the newest one */
        live_wire_forget_key(w);
}

/* Starts rendering at the newest key frame or at the head. A stateful format gets the configuration
 * in force first. */
static void begin(struct live_wire *w)
{
    const struct live_source *src = w->src;
    const struct live_span log = live_source_span(src);
    bool cached = live_policy_join(&log, src->set.gop_cache, &w->head);
    const struct live_configs *c = cached ? src->key_configs : &src->configs;

    for (unsigned i = 0; w->state && i < c->n; i++)
        (void)make(w, c->v[i]);
}

void live_wire_more(struct live_wire *w, co_usec now)
{
    struct live_source *src = w->src;
    size_t bytes = 0;

    if (w->head < src->first) { /* the log dropped packets that were not rendered yet */
        drop_all(w);
        begin(w);
    }
    while (live_wire_lags(w) && bytes < PORTION) {
        const struct av_packet *pkt = src->ring[w->head % src->cap];

        bytes += sizeof(*pkt) + pkt->size;
        append(w, pkt, src->have_key && w->head == src->key, now);
    }
    if (!live_wire_lags(w))
        live_source_was_read(src);
}

static bool is_of(const struct live_wire *w, const struct live_format *fmt,
                  const uint32_t param[LIVE_PARAMS])
{
    return w->fmt == fmt && memcmp(w->param, param, sizeof(w->param)) == 0;
}

struct live_wire *live_wire_get(struct live_source *src, const struct live_format *fmt,
                                const uint32_t param[LIVE_PARAMS], co_usec now)
{
    struct live_wire *w = src->wires;

    while (w && !is_of(w, fmt, param))
        w = w->next;
    if (!w) {
        w = must(malloc(sizeof(*w)));
        *w = (struct live_wire){ .next = src->wires, .src = src, .fmt = fmt,
                                 .next_size = BLOCK_MIN };
        memcpy(w->param, param, sizeof(w->param));
        wr_init(&w->made, MADE_MAX);
        if (fmt->open)
            w->state = fmt->open(param, src);
        src->wires = w;
        begin(w);
        live_wire_more(w, now);
    }
    w->consumers++;
    return w;
}

void live_wire_put(struct live_wire *w)
{
    if (--w->consumers > 0)
        return;
    LIST_CUT(&w->src->wires, w);
    drop_all(w);
    live_source_was_read(w->src);
    if (w->state)
        w->fmt->close(w->state);
    wr_free(&w->made);
    free(w);
}
