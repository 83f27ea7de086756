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
    struct srt_stream *next;
    unsigned refs;
    struct srt_service *service;
    struct live_source *src;
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
    co_usec every = live_source_publishing(st->src) || st->every > IDLE ? st->every : IDLE;

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
    live_source_players(st->src, 1);
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
    live_source_players(st->src, -1);
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

static struct srt_stream **bucket(struct srt_service *s, const struct live_source *src)
{
    return &s->streams.v[(uintptr_t)src / 64 % (sizeof(s->streams.v) / sizeof(s->streams.v[0]))];
}

/* Without its coroutine players play on, whatever their tokens say; it is tried again. */
static void begin_to_look(struct srt_service *s)
{
    err_t err;

    if (s->streams.looks)
        return;
    err = co_go(&s->base.group, "srt-look", srt_look_main, s);
    s->streams.looks = err == NULL;
    if (err)
        log_end("nobody looks after players of SRT", &err);
}

static struct srt_stream *stream_new(struct srt_service *s, struct live_source *src)
{
    const struct srt_wire_opts opts = {
        .payload = (unsigned)s->base.env->conf->srt_server.payloadsize,
        .max_bytes = live_source_set(src).max_bytes,
        .counter = live_registry_counter(s->base.env->streams),
    };
    struct srt_stream *st = must(calloc(1, sizeof(*st))), **at = bucket(s, src);

    st->service = s;
    st->src = live_source_ref(src);
    st->wire = srt_wire_new(src, &opts);
    st->every = IDLE;
    st->next = *at;
    *at = st;
    if (s->streams.n++ == 0)
        s->streams.burst = must(malloc(sizeof(*s->streams.burst)));
    begin_to_look(s);
    return st;
}

struct srt_stream *srt_stream_get(struct srt_service *s, struct live_source *src)
{
    struct srt_stream *st = *bucket(s, src);

    while (st && st->src != src)
        st = st->next;
    return srt_stream_ref(st ? st : stream_new(s, src));
}

struct srt_stream *srt_stream_ref(struct srt_stream *st)
{
    st->refs++;
    return st;
}

void srt_stream_put(struct srt_stream *st)
{
    struct srt_stream **at;
    struct srt_service *s;

    if (!st || --st->refs > 0)
        return;
    s = st->service;
    at = bucket(s, st->src);
    while (*at != st)
        at = &(*at)->next;
    *at = st->next;
    srt_wire_free(st->wire);
    st->src = live_source_unref(st->src);
    free(st);
    if (--s->streams.n == 0) {
        free(s->streams.burst);
        s->streams.burst = NULL;
    }
}

struct srt_wire *srt_stream_wire(struct srt_stream *st)
{
    return st->wire;
}

/* ---- for who looks after them */

struct srt_stream *srt_stream_next(struct srt_service *s, struct srt_stream *st)
{
    size_t n = sizeof(s->streams.v) / sizeof(s->streams.v[0]);
    size_t i = st ? (size_t)(bucket(s, st->src) - s->streams.v) + 1 : 0;

    if (st && st->next)
        return st->next;
    while (i < n && !s->streams.v[i])
        i++;
    return i < n ? s->streams.v[i] : NULL;
}

void srt_stream_look_begin(struct srt_stream *st)
{
    st->look = st->players;
    set_every(st); /* it may have changed */
}

struct srt_peer *srt_stream_look_next(struct srt_stream *st)
{
    struct srt_peer *p = st->look;

    st->look = p ? p->next : NULL;
    return p;
}
