/* SPDX-License-Identifier: MIT */
/* replicas.c - replicas of other workers' streams that have players here. */
#include "session/replicas.h"

#include "base/container_of.h"
#include "base/list.h"
#include "base/must.h"
#include "live/tap.h"
#include "session/clients.h"
#include "session/stream_owners.h"
#include "session/workers.h"

#include <stdlib.h>

#define KEEP CO_SECONDS(5)
/* How often it polls a tap, and checks whether to close it. */
#define POLL CO_MS(500)

struct replica {
    /* constant, read by both threads */
    struct workers *workers;
    unsigned here, owner; /* workers */

    /* Used by this worker; while the request is in flight, src, set and tap belong to the owner
     * worker. */
    struct replica *next, **prev;
    struct session_env *env;
    struct live_source *src; /* the owner worker reads its name */
    struct live_settings set;
    struct live_tap *tap;    /* NULL: none yet */
    struct co_timer timer;
    co_usec missing_since;   /* since when the source has no other user; 0: it has one */
    bool asks;               /* the request or its response is in flight */
    struct co_mail request;  /* to the owner worker and back */

    struct co_mail wake;     /* from the owner worker: a reader here is due */
};

static void ask(struct replica *r, void (*fn)(struct co_mail *m))
{
    r->asks = true;
    r->request.fn = fn;
    workers_post(r->workers, r->owner, &r->request);
}

static void answer(struct replica *r, void (*fn)(struct co_mail *m))
{
    r->request.fn = fn;
    workers_post(r->workers, r->here, &r->request);
}

/* ---- start and end of a replica */

static struct replica *add(struct session_env *env, struct live_source *src, unsigned owner)
{
    struct replica *r = must(calloc(1, sizeof(*r))), **head;

    if (!env->replicas) {
        env->replicas = must(calloc(1, sizeof(*env->replicas)));
        env->replicas->keep = KEEP;
        env->replicas->look = POLL;
    }
    head = &env->replicas->first;
    *r = (struct replica){ .workers = env->workers, .here = env->worker, .owner = owner,
                           .next = *head, .prev = head, .env = env,
                           .src = live_source_ref(src) };
    if (*head)
        (*head)->prev = &r->next;
    *head = r;
    env->replicas->n++;
    return r;
}

static void drop(struct replica *r)
{
    struct replicas *all = r->env->replicas;

    LIST_TAKE(r);
    all->n--;
    (void)live_source_unref(r->src);
    free(r);
    if (all->n == 0 && all->waiter)
        co_unpark(all->waiter);
}

/* ---- on the owner worker's thread */

static void on_wake(struct co_mail *m);
static void on_opened(struct co_mail *m);
static void on_tidied(struct co_mail *m);
static void on_closed(struct co_mail *m);

/* Sends the wakeup. It is not in flight already: the reader has confirmed the last one. */
static void raise_reader(void *replica)
{
    struct replica *r = replica;

    r->wake.fn = on_wake;
    workers_post(r->workers, r->here, &r->wake);
}

static void on_open(struct co_mail *m)
{
    struct replica *r = container_of(m, struct replica, request);
    struct session_env *env = r->workers->v[r->owner].env;
    struct live_source *src = live_registry_get(env->streams, live_source_name(r->src), &r->set);

    replicas_own(env, src);
    r->tap = live_tap_open(src, raise_reader, r);
    (void)live_source_unref(src);
    answer(r, on_opened);
}

static void on_tidy(struct co_mail *m)
{
    struct replica *r = container_of(m, struct replica, request);

    live_tap_tidy(r->tap);
    answer(r, on_tidied);
}

static void on_close(struct co_mail *m)
{
    struct replica *r = container_of(m, struct replica, request);

    r->tap = live_tap_close(r->tap);
    answer(r, on_closed);
}

/* ---- on this thread */

static void poll_tap(struct co_timer *t);

static void open_tap(struct replica *r)
{
    r->missing_since = 0;
    r->set = live_source_set(r->src);
    ask(r, on_open);
}

static void close_tap(struct replica *r)
{
    co_timer_cancel(&r->timer);
    live_tap_leave(r->src);
    ask(r, on_close);
}

static void on_wake(struct co_mail *m)
{
    live_tap_raised(container_of(m, struct replica, wake)->src);
}

static void on_opened(struct co_mail *m)
{
    struct replica *r = container_of(m, struct replica, request);

    r->asks = false;
    live_tap_follow(r->tap, r->src);
    if (r->env->replicas->closing)
        close_tap(r);
    else
        co_timer_set(&r->timer, co_now() + r->env->replicas->look, poll_tap);
}

static void on_tidied(struct co_mail *m)
{
    struct replica *r = container_of(m, struct replica, request);

    r->asks = false;
    if (r->env->replicas->closing)
        close_tap(r);
}

static void on_closed(struct co_mail *m)
{
    struct replica *r = container_of(m, struct replica, request);

    r->asks = false;
    if (r->env->replicas->closing || live_source_is_only_ref(r->src))
        drop(r);
    else
        open_tap(r); /* a client came meanwhile */
}

/* Returns true if the source had no other user for long enough. */
static bool is_over(struct replica *r, co_usec now)
{
    if (!live_source_is_only_ref(r->src))
        r->missing_since = 0;
    else if (!r->missing_since)
        r->missing_since = now;
    return r->missing_since && now - r->missing_since >= r->env->replicas->keep;
}

static void poll_tap(struct co_timer *t)
{
    struct replica *r = container_of(t, struct replica, timer);
    bool rests = live_tap_poll(r->src), over = is_over(r, co_now());

    co_timer_set(t, co_now() + r->env->replicas->look, poll_tap);
    if (r->asks)
        return;
    if (over)
        close_tap(r);
    else if (rests)
        ask(r, on_tidy);
}

void replicas_own(struct session_env *env, struct live_source *src)
{
    struct clients_stream *s = clients_stream(env->clients, src);

    if (s->owner)
        return;
    s->workers = env->workers;
    s->owner = stream_owners_hold(env->workers, live_source_name(src), env->worker);
    if (stream_owner_worker(s->owner) == env->worker)
        return;
    clients_stream_is_replica(s, &env->workers->v[env->worker].gauges.replicas);
    if (!atomic_load(&env->workers->ending))
        open_tap(add(env, src, stream_owner_worker(s->owner)));
}

void replicas_close_all(struct session_env *env)
{
    struct replicas *all = env->replicas;
    bool held = false;

    if (!all)
        return;
    all->closing = true;
    all->waiter = co_self();
    for (struct replica *r = all->first; r; r = r->next) {
        if (!r->asks)
            close_tap(r);
    }
    while (all->n > 0) { /* waits even if stopped, because owner workers write to them */
        held |= co_stop_hold();
        held |= co_park(CO_FOREVER) == CO_STOPPED;
    }
    co_stop_resume(held);
    env->replicas = NULL;
    free(all);
}
