/* SPDX-License-Identifier: MIT */
/* streams.c - streams by their source, and who looks at their players. */
#include "serve/datagram/streams.h"

#include "base/log.h"

#define EVERY CO_SECONDS(1)

enum { LINE = 64 }; /* sources are no closer to each other */

static struct datagram_stream **bucket(struct datagram_streams *all, const struct live_source *src)
{
    return &all->v[(uintptr_t)src / LINE % DATAGRAM_BUCKETS];
}

/* ---- looked at */

/* With the second of the clock: an idle thread is woken once for all of it. */
static err_t wait_a_second(void)
{
    co_usec t = EVERY - co_now() % EVERY;

    return co_sleep(t < EVERY / 2 ? t + EVERY : t);
}

/* NULL: the first, and behind the last. */
static struct datagram_stream *next_of(struct datagram_streams *all, struct datagram_stream *st)
{
    size_t i = st ? (size_t)(bucket(all, st->src) - all->v) + 1 : 0;

    if (st && st->next)
        return st->next;
    while (i < DATAGRAM_BUCKETS && !all->v[i])
        i++;
    return i < DATAGRAM_BUCKETS ? all->v[i] : NULL;
}

static err_t look_main(void *streams)
{
    struct datagram_streams *all = streams;
    err_t err = wait_a_second();

    while (!err) {
        struct datagram_stream *st = next_of(all, NULL);

        while (st) {
            struct datagram_stream *next;

            st->refs++;
            all->kind->look(st);
            next = next_of(all, st);
            datagram_stream_put(st);
            st = next;
        }
        err = wait_a_second();
    }
    all->looks = false;
    err_free(&err);
    return NULL;
}

/* Without its coroutine players play on, whatever their configuration says; it is tried again. */
static void begin_to_look(struct datagram_streams *all)
{
    err_t err;

    if (all->looks)
        return;
    err = co_go(&all->service->group, all->kind->looker, look_main, all);
    all->looks = err == NULL;
    if (err)
        log_end("nobody looks after players", &err);
}

/* ---- found */

struct datagram_stream *datagram_stream_get(struct datagram_streams *all,
                                            const struct live_source *src)
{
    struct datagram_stream *st = *bucket(all, src);

    while (st && st->src != src)
        st = st->next;
    if (st)
        st->refs++;
    return st;
}

void datagram_stream_enter(struct datagram_streams *all, struct datagram_service *s,
                           const struct datagram_stream_kind *kind, struct datagram_stream *st,
                           struct live_source *src)
{
    struct datagram_stream **at = bucket(all, src);

    all->service = s;
    all->kind = kind;
    st->all = all;
    st->refs = 1;
    st->src = live_source_ref(src);
    st->next = *at;
    *at = st;
    all->n++;
    begin_to_look(all);
}

void datagram_stream_put(struct datagram_stream *st)
{
    struct datagram_streams *all = st->all;
    struct datagram_stream **at = bucket(all, st->src);
    struct live_source *src = st->src;

    if (--st->refs > 0)
        return;
    while (*at != st)
        at = &(*at)->next;
    *at = st->next;
    all->n--;
    all->kind->free(st);
    (void)live_source_unref(src);
}
