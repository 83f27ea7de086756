/* SPDX-License-Identifier: MIT */
/* stream.c - the players of a source, served together. */
#include "serve/srt/stream.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "serve/srt/impl.h"

#include <stdlib.h>

/* Nobody publishes: somebody may begin. */
#define IDLE CO_MS(100)

enum { FEW = 4 }; /* players between two looks at the time */

struct srt_stream {
    struct datagram_stream base;
    struct srt_service *service;
    struct srt_wire *wire;
    struct srt_peer *players;
    struct srt_peer *at;     /* the next of the walk; NULL: there is none under way */
    struct srt_peer *look;   /* the next of look.c */
    co_usec every;           /* between two walks */
    struct co_timer timer;
    struct co_task more;     /* the rest of a walk */
};

/* ---- the walk */

static void on_timer(struct co_timer *t);

/* On a common grid: the thread is woken once for all streams. */
static void set_timer(struct srt_stream *st, co_usec now)
{
    co_usec every = live_source_publishing(st->base.src) || st->every > IDLE ? st->every : IDLE;

    co_timer_set(&st->timer, (now / every + 1) * every, on_timer);
}

/* Who may wait longer than others of its stream is not served in each walk. */
static void serve(struct srt_peer *p, co_usec now)
{
    uint32_t turn = (uint32_t)(now / p->play.every);

    if (turn == p->play.turn || p->state != SRT_PLAYS)
        return;
    p->play.turn = turn;
    srt_play_turn(p, now);
}

static void on_more(struct co_task *t);

static void walk(struct srt_stream *st)
{
    co_usec now = co_now();

    for (unsigned i = 1; st->at; i++) {
        struct srt_peer *p = st->at;

        st->at = p->next;
        __builtin_prefetch(p->next);
        serve(p, now);
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
    walk(container_of(t, struct srt_stream, more));
}

static void on_timer(struct co_timer *t)
{
    struct srt_stream *st = container_of(t, struct srt_stream, timer);

    srt_wire_take(st->wire, co_now());
    st->at = st->players;
    walk(st);
}

/* ---- who plays */

bool srt_stream_has(const struct srt_peer *p)
{
    return p->prev != NULL;
}

static void set_every(struct srt_stream *st)
{
    st->every = IDLE;
    for (struct srt_peer *p = st->players; p; p = p->next) {
        if (p->play.every < st->every)
            st->every = p->play.every;
    }
}

void srt_stream_add(struct srt_stream *st, struct srt_peer *p)
{
    co_usec now = co_clock(), latency = p->conn.agreed.send_latency;
    bool first = !st->players;

    p->next = st->players;
    p->prev = &st->players;
    if (p->next)
        p->next->prev = &p->next;
    st->players = p;
    live_source_players(st->base.src, 1);
    srt_wire_keep(st->wire, latency + latency / 2);
    if (first || p->play.every < st->every)
        st->every = p->play.every;
    if (!first)
        return;
    srt_wire_wanted(st->wire, true);
    srt_wire_take(st->wire, now);
    set_timer(st, now);
}

void srt_stream_remove(struct srt_stream *st, struct srt_peer *p)
{
    if (!srt_stream_has(p))
        return;
    if (st->at == p)
        st->at = p->next;
    if (st->look == p)
        st->look = p->next;
    *p->prev = p->next;
    if (p->next)
        p->next->prev = p->prev;
    p->prev = NULL;
    live_source_players(st->base.src, -1);
    if (st->players) {
        if (p->play.every == st->every)
            set_every(st);
        return;
    }
    co_timer_cancel(&st->timer);
    co_post_cancel(&st->more);
    srt_wire_wanted(st->wire, false);
}

/* ---- streams of a worker */

static void free_stream(struct datagram_stream *base)
{
    struct srt_stream *st = container_of(base, struct srt_stream, base);
    struct srt_streams *all = &st->service->streams;

    srt_wire_free(st->wire);
    free(st);
    if (all->base.n == 0) {
        free(all->burst);
        all->burst = NULL;
    }
}

static void look_at_all(struct datagram_stream *base)
{
    struct srt_stream *st = container_of(base, struct srt_stream, base);
    struct srt_peer *p;

    st->look = st->players;
    set_every(st); /* it may have changed */
    while ((p = st->look)) {
        st->look = p->next;
        srt_play_look(p, co_now());
        co_yield_if_due();
    }
}

static const struct datagram_stream_kind kind = {
    .looker = "srt-look", .look = look_at_all, .free = free_stream,
};

static struct srt_stream *stream_new(struct srt_service *s, struct live_source *src)
{
    const struct srt_wire_opts opts = {
        .payload = (unsigned)s->base.env->conf->srt_server.payloadsize,
        .max_bytes = live_source_set(src).max_bytes,
        .counter = live_registry_counter(s->base.env->streams),
    };
    struct srt_stream *st = must(calloc(1, sizeof(*st)));

    st->service = s;
    if (s->streams.base.n == 0)
        s->streams.burst = must(malloc(sizeof(*s->streams.burst)));
    datagram_stream_enter(&s->streams.base, &s->base, &kind, &st->base, src);
    st->wire = srt_wire_new(src, &opts);
    st->every = IDLE;
    return st;
}

struct srt_stream *srt_stream_get(struct srt_service *s, struct live_source *src)
{
    struct datagram_stream *st = datagram_stream_get(&s->streams.base, src);

    return st ? container_of(st, struct srt_stream, base) : stream_new(s, src);
}

void srt_stream_put(struct srt_stream *st)
{
    if (st)
        datagram_stream_put(&st->base);
}

struct srt_wire *srt_stream_wire(struct srt_stream *st)
{
    return st->wire;
}
