/* SPDX-License-Identifier: MIT */
/* rtmfp.c - turns packets of a live stream into RTMFP messages. */
#include "wire/rtmfp.h"

#include "base/container_of.h"
#include "base/must.h"
#include "format/flv/flv.h"
#include "live/policy.h"
#include "wire/reading.h"

#include <stdlib.h>
#include <string.h>

enum {
    TURN = 1 << 20,  /* approximate bytes made per turn: a fraction of a millisecond */
    /* maximum number of configurations in force, by kind and track */
    RING_LEAST = 64, /* minimum size of the ring, a power of two */
};

/* An entry. A configuration also has its kind and track; a newer one of the same replaces it. */
struct slot {
    struct rtmfp_wire_entry entry;
    bool config, extra;
    uint8_t origin;
    uint16_t track;
};

struct rtmfp_wire {
    struct wire_reading reading;
    size_t max_bytes;
    co_usec made;          /* time of the newest message; never decreases */
    struct slot *ring;     /* entries first to head - 1, at number % cap; cap is a power of two */
    size_t cap;
    uint64_t first, head;
    uint64_t key, began;
    bool has_key;
    size_t bytes;          /* bytes of messages and their slots */
    struct slot configs[LIVE_CONFIGS]; /* configurations in force before `first` */
    unsigned n_configs;
    size_t config_bytes;
};

static size_t cost(const struct slot *s)
{
    return sizeof(*s) + sizeof(*s->entry.message) + s->entry.message->size;
}

/* ---- configurations in force */

static bool is_same_kind(const struct slot *a, const struct slot *b)
{
    return a->entry.kind == b->entry.kind && a->track == b->track && a->origin == b->origin &&
           a->extra == b->extra && a->entry.player == b->entry.player;
}

/* Returns the index for a configuration: that of the one it replaces, or a new one. If the list is
 * full, the last index. */
static unsigned index_of(const struct slot *list, unsigned n, const struct slot *s)
{
    unsigned i = 0;

    while (i < n && !is_same_kind(&list[i], s))
        i++;
    return i < LIVE_CONFIGS ? i : LIVE_CONFIGS - 1;
}

static void clear_configs(struct rtmfp_wire *w)
{
    for (unsigned i = 0; i < w->n_configs; i++)
        rtmfp_message_unref(w->configs[i].entry.message);
    w->n_configs = 0;
    w->config_bytes = 0;
}

/* Takes ownership of the reference. */
static void keep_config(struct rtmfp_wire *w, const struct slot *s)
{
    unsigned i = index_of(w->configs, w->n_configs, s);

    if (i < w->n_configs) {
        w->config_bytes -= cost(&w->configs[i]);
        rtmfp_message_unref(w->configs[i].entry.message);
    } else {
        w->n_configs++;
    }
    w->configs[i] = *s;
    w->config_bytes += cost(s);
}

/* ---- the ring */

static struct slot *slot_at(const struct rtmfp_wire *w, uint64_t number)
{
    return &w->ring[number & (w->cap - 1)];
}

static void drop_first(struct rtmfp_wire *w)
{
    struct slot *s = slot_at(w, w->first);

    w->bytes -= cost(s);
    if (w->first == w->began)
        clear_configs(w); /* those of the previous publisher */
    if (s->config)
        keep_config(w, s);
    else
        rtmfp_message_unref(s->entry.message);
    w->first++;
    if (w->has_key && w->key < w->first)
        w->has_key = false;
}

static void trim(struct rtmfp_wire *w, uint64_t floor)
{
    while (w->first < floor || (w->first < w->head && w->bytes > w->max_bytes))
        drop_first(w);
    wire_reading_count(&w->reading, w->bytes + w->config_bytes);
}

static void grow(struct rtmfp_wire *w)
{
    size_t cap = w->cap ? 2 * w->cap : RING_LEAST;
    struct slot *ring = must(malloc(cap * sizeof(*ring)));

    for (uint64_t n = w->first; n < w->head; n++)
        ring[n & (cap - 1)] = *slot_at(w, n);
    free(w->ring);
    w->ring = ring;
    w->cap = cap;
}

static void put(struct rtmfp_wire *w, const struct slot *s)
{
    if (w->head - w->first == w->cap)
        grow(w);
    *slot_at(w, w->head) = *s;
    if (s->entry.key) {
        w->key = w->head;
        w->has_key = true;
    }
    w->head++;
    w->bytes += cost(s);
}

/* ---- messages */

/* Returns a new message; NULL if memory is short. */
static struct rtmfp_message *message_of(const struct flv_message *m, int64_t dts, co_usec made)
{
    uint32_t time = (uint32_t)(dts / AV_MS(1)); /* wraps, as RTMP's does */
    struct rtmfp_message *out = rtmfp_message_of(m->type, time, flv_message_size(m), made);

    if (!out)
        return NULL;
    memcpy(out->bytes + RTMFP_MESSAGE_HEAD, m->head, m->head_size);
    if (m->rest_size)
        memcpy(out->bytes + RTMFP_MESSAGE_HEAD + m->head_size, m->rest, m->rest_size);
    return out;
}

static enum rtmfp_wire_kind kind_of(const struct av_packet *pkt)
{
    if (pkt->kind == AV_VIDEO)
        return RTMFP_WIRE_VIDEO;
    return pkt->kind == AV_AUDIO ? RTMFP_WIRE_AUDIO : RTMFP_WIRE_DATA;
}

/* Returns the time of a message. Each message has a different time, so everything older than a key
 * frame can be identified by it. */
static co_usec made_at(struct rtmfp_wire *w, const struct av_packet *pkt, co_usec now)
{
    co_usec at = wire_reading_came(&w->reading, pkt, now), least = w->made + pkt->start;

    w->made = at > least ? at : least;
    return w->made;
}

/* Adds a message. If memory is short the message is lost, and joining players wait for a later key
 * frame. */
static void add_message(struct rtmfp_wire *w, struct slot *s, const struct flv_message *m,
                        const struct av_packet *pkt, co_usec now)
{
    s->entry.message = message_of(m, pkt->dts, made_at(w, pkt, now));
    if (s->entry.message)
        put(w, s);
    else
        w->has_key = false;
}

static void add(struct rtmfp_wire *w, const struct av_packet *pkt, co_usec now)
{
    bool keep = pkt->config || pkt->extra;
    struct slot s = {
        .config = keep, .extra = pkt->extra, .origin = pkt->origin, .track = pkt->track,
        .entry = { .kind = kind_of(pkt), .key = pkt->start && !pkt->config,
                   .keep = keep || pkt->kind == AV_DATA },
    };
    struct flv_message m;

    flv_message_build(&m, pkt);
    if (!m.type)
        return;
    if (flv_message_leave_out_opus(&m, pkt)) {
        s.entry.player = RTMFP_WIRE_NO_OPUS;
        if (m.type)
            add_message(w, &s, &m, pkt, now);
        s.entry.player = RTMFP_WIRE_OPUS;
        flv_message_build(&m, pkt);
    }
    add_message(w, &s, &m, pkt, now);
}

/* ---- reading the stream */

static void begin(struct wire_reading *r)
{
    struct rtmfp_wire *w = container_of(r, struct rtmfp_wire, reading);

    w->began = w->head;
    w->has_key = false;
}

static void config(struct wire_reading *r, const struct av_packet *pkt, co_usec now)
{
    add(container_of(r, struct rtmfp_wire, reading), pkt, now);
}

static const struct wire_reading_ops reading = { .begin = begin, .config = config };

/* Messages of earlier turns are already in the flows of all players. */
void rtmfp_wire_take(struct rtmfp_wire *w, co_usec now)
{
    uint64_t from = w->head;
    size_t made = 0;
    const struct av_packet *pkt;

    if (!wire_reading_on(&w->reading))
        return;
    while (made < TURN && (pkt = wire_reading_next(&w->reading, now))) {
        add(w, pkt, now);
        made += pkt->size;
    }
    if (w->has_key && w->key < from && live_source_set(w->reading.src).gop_cache)
        from = w->key; /* for joining players */
    trim(w, from);
}

/* ---- entries */

uint64_t rtmfp_wire_first(const struct rtmfp_wire *w)
{
    return w->first;
}

uint64_t rtmfp_wire_head(const struct rtmfp_wire *w)
{
    return w->head;
}

const struct rtmfp_wire_entry *rtmfp_wire_at(const struct rtmfp_wire *w, uint64_t number)
{
    return &slot_at(w, number)->entry;
}

bool rtmfp_wire_join(const struct rtmfp_wire *w, uint64_t *number)
{
    const struct live_span span = { w->first, w->key, w->has_key, w->head };

    return wire_reading_join(&w->reading, &span, number);
}

size_t rtmfp_wire_configs(struct rtmfp_wire *w, uint64_t number, struct rtmfp_wire_entry *out,
                          size_t most)
{
    struct slot list[LIVE_CONFIGS];
    unsigned n = 0;
    /* ignore configurations of the previous publisher */
    bool restarted = w->began >= w->first && w->began <= number;
    size_t i;

    if (!restarted) {
        memcpy(list, w->configs, w->n_configs * sizeof(list[0]));
        n = w->n_configs;
    }
    for (uint64_t at = restarted ? w->began : w->first; at < number && at < w->head; at++) {
        const struct slot *s = slot_at(w, at);

        if (s->config) {
            unsigned index = index_of(list, n, s);

            n += index == n;
            list[index] = *s;
        }
    }
    for (i = 0; i < n && i < most; i++)
        out[i] = list[i].entry;
    return i;
}

uint64_t rtmfp_wire_began(const struct rtmfp_wire *w)
{
    return w->began;
}

/* ---- create and free */

struct rtmfp_wire *rtmfp_wire_new(struct live_source *src, const struct rtmfp_wire_opts *opts)
{
    struct rtmfp_wire *w = must(calloc(1, sizeof(*w)));

    w->max_bytes = opts->max_bytes;
    wire_reading_init(&w->reading, &reading, src, opts->counter);
    return w;
}

static void forget(struct rtmfp_wire *w)
{
    trim(w, w->head);
    clear_configs(w);
    wire_reading_count(&w->reading, 0);
    free(w->ring);
    w->ring = NULL;
    w->cap = 0;
}

void rtmfp_wire_wanted(struct rtmfp_wire *w, bool wanted)
{
    wire_reading_set(&w->reading, wanted);
    if (!wanted)
        forget(w);
}

void rtmfp_wire_free(struct rtmfp_wire *w)
{
    if (!w)
        return;
    rtmfp_wire_wanted(w, false);
    wire_reading_fini(&w->reading);
    free(w);
}
