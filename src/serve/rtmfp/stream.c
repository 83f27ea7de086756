/* SPDX-License-Identifier: MIT */
/* stream.c - the players of a source, served together. */
#include "serve/rtmfp/stream.h"

#include "base/container_of.h"
#include "base/must.h"

#include <stdlib.h>

#define EVERY CO_MS(10) /* between two walks: small frames of a walk share packets */
#define IDLE CO_MS(100) /* nobody publishes: somebody may begin */

enum { FEW = 4 }; /* players between two looks at the time */

struct rtmfp_stream {
    struct datagram_stream base;
    struct rtmfp_service *service;
    struct rtmfp_wire *wire;
    struct rtmfp_netstream *players;
    struct rtmfp_netstream *at;   /* the next of the walk; NULL: there is none under way */
    struct rtmfp_netstream *look; /* the next of look.c */
    struct co_timer timer;
    struct co_task more;          /* the rest of a walk */
};

/* ---- the walk */

static void on_timer(struct co_timer *t);

/* On a common grid: the thread is woken once for all streams. */
static void set_timer(struct rtmfp_stream *st, co_usec now)
{
    co_usec every = live_source_publishing(st->base.src) ? EVERY : IDLE;

    co_timer_set(&st->timer, (now / every + 1) * every, on_timer);
}

static void on_more(struct co_task *t);

static void walk(struct rtmfp_stream *st)
{
    co_usec now = co_now();

    for (unsigned i = 1; st->at; i++) {
        struct rtmfp_netstream *n = st->at;

        st->at = n->play.next;
        __builtin_prefetch(st->at);
        if (n->doing == RTMFP_PLAYS && rtmfp_play_turn(n, now))
            rtmfp_peer_flush(n->peer, now); /* while it is in the cache */
        if (st->at && i % FEW == 0 && co_slice_over()) {
            co_post(&st->more, on_more);
            return;
        }
    }
    if (st->players)
        set_timer(st, now);
}

static void on_more(struct co_task *t)
{
    walk(container_of(t, struct rtmfp_stream, more));
}

static void on_timer(struct co_timer *t)
{
    struct rtmfp_stream *st = container_of(t, struct rtmfp_stream, timer);

    rtmfp_wire_take(st->wire, co_now());
    st->at = st->players;
    walk(st);
}

/* ---- who plays */

bool rtmfp_stream_has(const struct rtmfp_netstream *n)
{
    return n->play.prev != NULL;
}

void rtmfp_stream_add(struct rtmfp_stream *st, struct rtmfp_netstream *n)
{
    co_usec now = co_clock();
    bool first = !st->players;

    n->play.next = st->players;
    n->play.prev = &st->players;
    if (n->play.next)
        n->play.next->play.prev = &n->play.next;
    st->players = n;
    live_source_players(st->base.src, 1);
    if (!first)
        return;
    rtmfp_wire_wanted(st->wire, true);
    rtmfp_wire_take(st->wire, now);
    set_timer(st, now);
}

void rtmfp_stream_remove(struct rtmfp_stream *st, struct rtmfp_netstream *n)
{
    if (!rtmfp_stream_has(n))
        return;
    if (st->at == n)
        st->at = n->play.next;
    if (st->look == n)
        st->look = n->play.next;
    *n->play.prev = n->play.next;
    if (n->play.next)
        n->play.next->play.prev = n->play.prev;
    n->play.prev = NULL;
    live_source_players(st->base.src, -1);
    if (st->players)
        return;
    co_timer_cancel(&st->timer);
    co_post_cancel(&st->more);
    rtmfp_wire_wanted(st->wire, false);
}

/* ---- streams of a worker */

static void free_stream(struct datagram_stream *base)
{
    struct rtmfp_stream *st = container_of(base, struct rtmfp_stream, base);

    rtmfp_wire_free(st->wire);
    free(st);
}

static void look_at_all(struct datagram_stream *base)
{
    struct rtmfp_stream *st = container_of(base, struct rtmfp_stream, base);
    struct rtmfp_netstream *n;

    st->look = st->players;
    while ((n = st->look)) {
        st->look = n->play.next;
        rtmfp_play_look(n, co_now());
        co_yield_if_due();
    }
}

static const struct datagram_stream_kind kind = {
    .looker = "rtmfp-look", .look = look_at_all, .free = free_stream,
};

static struct rtmfp_stream *stream_new(struct rtmfp_service *s, struct live_source *src)
{
    const struct rtmfp_wire_opts opts = {
        .max_bytes = live_source_set(src).max_bytes,
        .counter = live_registry_counter(s->base.env->streams),
    };
    struct rtmfp_stream *st = must(calloc(1, sizeof(*st)));

    st->service = s;
    datagram_stream_enter(&s->streams, &s->base, &kind, &st->base, src);
    st->wire = rtmfp_wire_new(src, &opts);
    return st;
}

struct rtmfp_stream *rtmfp_stream_get(struct rtmfp_service *s, struct live_source *src)
{
    struct datagram_stream *st = datagram_stream_get(&s->streams, src);

    return st ? container_of(st, struct rtmfp_stream, base) : stream_new(s, src);
}

void rtmfp_stream_put(struct rtmfp_stream *st)
{
    if (st)
        datagram_stream_put(&st->base);
}

struct rtmfp_wire *rtmfp_stream_wire(struct rtmfp_stream *st)
{
    return st->wire;
}
