/* SPDX-License-Identifier: MIT */
/* streams.c - streams by source, the walks that serve their players, and periodic checks. */
#include "serve/datagram/client.h"

#include "base/container_of.h"
#include "base/list.h"
#include "base/log.h"
#include "base/must.h"

#include <stdlib.h>

#define EVERY CO_SECONDS(1)
#define IDLE CO_MS(100) /* interval of walks while the stream has no publisher */

enum { FEW = 4 }; /* players between two checks of the time */

static struct datagram_stream *stream_of(struct table_link *l)
{
    return l ? container_of(l, struct datagram_stream, link) : NULL;
}

/* ---- checks */

/* Waits for the next full second, so that an idle thread wakes once for all periodic work. */
static err_t wait_a_second(void)
{
    co_usec t = EVERY - co_now() % EVERY;

    return co_sleep(t < EVERY / 2 ? t + EVERY : t);
}

static void check_all(struct datagram_stream *st)
{
    const struct datagram_stream_kind *kind = st->all->kind;
    struct datagram_player *p;

    if (kind->begin_check)
        kind->begin_check(st);
    st->check = st->players;
    while ((p = st->check)) {
        st->check = p->next;
        datagram_client_check(container_of(p, struct datagram_client, player), co_now());
        co_yield_if_due();
    }
}

static err_t check_main(void *streams)
{
    struct datagram_streams *all = streams;
    err_t err;

    co_log_as(LOG_UNTRUSTED_ALL);
    err = wait_a_second();
    while (!err) {
        struct datagram_stream *st = stream_of(table_next(&all->all, NULL));

        while (st) {
            struct datagram_stream *next;

            st->refs++;
            check_all(st);
            next = stream_of(table_next(&all->all, &st->link));
            datagram_stream_put(st);
            st = next;
        }
        err = wait_a_second();
    }
    all->checks = false;
    err_free(&err);
    return NULL;
}

/* Starts the coroutine that checks players; a failure is retried later, and players continue
 * unchecked meanwhile. */
static void begin_checks(struct datagram_streams *all)
{
    err_t err;

    if (all->checks)
        return;
    err = co_go(&all->service->group, all->kind->checker, check_main, all);
    all->checks = err == NULL;
    if (err)
        log_end("players are not checked", &err);
}

/* ---- finding */

static struct datagram_stream *stream_new(struct datagram_streams *all, struct datagram_service *s,
                                          const struct datagram_stream_kind *kind,
                                          struct live_source *src)
{
    struct datagram_stream *st = must(calloc(1, kind->size));

    all->service = s;
    all->kind = kind;
    if (!all->burst && kind->burst > 0)
        all->burst = must(calloc(1, kind->burst));
    st->all = all;
    st->refs = 1;
    st->src = live_source_ref(src);
    table_put(&all->all, &st->link, (uintptr_t)src);
    begin_checks(all);
    kind->begin(st, s);
    return st;
}

struct datagram_stream *datagram_stream_get(struct datagram_streams *all,
                                            struct datagram_service *s,
                                            const struct datagram_stream_kind *kind,
                                            struct live_source *src)
{
    struct datagram_stream *st = stream_of(table_find(&all->all, (uintptr_t)src, NULL));

    if (!st)
        return stream_new(all, s, kind, src);
    st->refs++;
    return st;
}

void datagram_stream_put(struct datagram_stream *st)
{
    struct datagram_streams *all;

    if (!st || --st->refs > 0)
        return;
    all = st->all;
    (void)table_remove(&all->all, &st->link);
    all->kind->free(st);
    if (all->all.n == 0) {
        table_free(&all->all);
        free(all->burst);
        all->burst = NULL;
    }
    (void)live_source_unref(st->src);
    free(st);
}

/* ---- walks */

bool datagram_stream_walk(struct datagram_stream *st, co_usec now)
{
    for (unsigned i = 1; st->at; i++) {
        struct datagram_player *p = st->at;

        st->at = p->next;
        __builtin_prefetch(st->at);
        st->all->kind->serve(st, p, now);
        if (st->at && i % FEW == 0 && co_slice_over())
            return false;
    }
    return true;
}

/* ---- periodic walks */

static void on_timer(struct co_timer *t);

/* Rounds the times, so that the thread wakes once for all streams. */
static void begin_walks(struct datagram_stream *st, co_usec now)
{
    co_usec every = live_source_publishing(st->src) || st->every > IDLE ? st->every : IDLE;

    co_timer_set(&st->timer, (now / every + 1) * every, on_timer);
}

static void on_more(struct co_task *t);

static void go_on(struct datagram_stream *st)
{
    co_usec now = co_now();

    if (!datagram_stream_walk(st, now))
        co_post(&st->more, on_more);
    else if (st->players)
        begin_walks(st, now);
}

static void on_more(struct co_task *t)
{
    go_on(container_of(t, struct datagram_stream, more));
}

static void on_timer(struct co_timer *t)
{
    struct datagram_stream *st = container_of(t, struct datagram_stream, timer);

    st->all->kind->take(st, co_now());
    st->at = st->players;
    go_on(st);
}

/* ---- players */

void datagram_stream_add(struct datagram_stream *st, struct datagram_player *p)
{
    const struct datagram_stream_kind *kind = st->all->kind;
    bool first = !st->players;

    LIST_PUT(&st->players, p);
    live_source_players(st->src, 1);
    if (!first)
        return;
    kind->wanted(st, true);
    if (kind->take) {
        kind->take(st, co_clock());
        begin_walks(st, co_clock());
    }
}

void datagram_stream_remove(struct datagram_stream *st, struct datagram_player *p)
{
    if (!datagram_stream_has(p))
        return;
    if (st->at == p)
        st->at = p->next;
    if (st->check == p)
        st->check = p->next;
    LIST_TAKE(p);
    live_source_players(st->src, -1);
    if (st->players)
        return;
    co_timer_cancel(&st->timer);
    co_post_cancel(&st->more);
    st->all->kind->wanted(st, false);
}
