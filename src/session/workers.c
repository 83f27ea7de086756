/* SPDX-License-Identifier: MIT */
/* workers.c - calls between workers. */
#include "session/workers.h"

#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>

unsigned workers_count(const struct session_env *env)
{
    return env->workers ? env->workers->n : 1;
}

unsigned workers_share(const struct session_env *env, int all)
{
    unsigned n = workers_count(env);

    return ((unsigned)all + n - 1) / n;
}

void workers_note(const struct session_env *env)
{
    struct worker_gauges *g;

    if (!env->workers)
        return;
    g = &env->workers->v[env->worker].gauges;
    atomic_store_explicit(&g->publishers, env->publishers, memory_order_relaxed);
    atomic_store_explicit(&g->players, env->players, memory_order_relaxed);
}

void workers_connected(struct session_env *env)
{
    if (env->workers)
        atomic_fetch_add_explicit(&env->workers->connections, 1, memory_order_relaxed);
    else
        env->connected++;
}

void workers_disconnected(struct session_env *env)
{
    if (env->workers)
        atomic_fetch_sub_explicit(&env->workers->connections, 1, memory_order_relaxed);
    else
        env->connected--;
}

unsigned workers_connections(const struct session_env *env)
{
    return env->workers
               ? atomic_load_explicit(&env->workers->connections, memory_order_relaxed)
               : env->connected;
}

void workers_post(struct workers *w, unsigned to, struct co_mail *m)
{
    co_mailbox_post(&w->v[to].mail, m);
}

struct call {
    struct co_mail mail; /* the request and, sent back, the response */
    struct workers *workers;
    unsigned from, to;
    workers_fn *fn;
    void *arg;
    struct co *caller;
    char cid[9];               /* id of the caller, used in its log lines */
    bool done;
    void (*drop)(void *arg);   /* the caller stopped waiting; the call frees itself */
};

static void on_done(struct co_mail *m)
{
    struct call *c = container_of(m, struct call, mail);

    c->done = true;
    if (!c->drop) {
        co_unpark(c->caller);
        return;
    }
    c->drop(c->arg);
    free(c);
}

static err_t call_main(void *call)
{
    struct call *c = call;

    co_set_cid(c->cid);
    c->fn(c->workers->v[c->to].env, c->arg);
    c->mail.fn = on_done;
    workers_post(c->workers, c->from, &c->mail);
    return NULL;
}

static void on_call(struct co_mail *m)
{
    struct call *c = container_of(m, struct call, mail);
    err_t err = co_go(&c->workers->v[c->to].calls, "call", call_main, c);

    if (!err)
        return;
    log_end("a call of another worker, which gets nothing", &err);
    c->mail.fn = on_done;
    workers_post(c->workers, c->from, m);
}

static void begin(struct call *c, struct session_env *env, unsigned to, workers_fn *fn, void *arg)
{
    *c = (struct call){ .mail.fn = on_call, .workers = env->workers, .from = env->worker,
                        .to = to, .fn = fn, .arg = arg, .caller = co_self() };
    (void)snprintf(c->cid, sizeof(c->cid), "%s", co_cid());
    workers_post(env->workers, to, &c->mail);
}

/* Waits even if the coroutine is stopped, because another worker writes to the call. */
static void wait_for(const struct call *c)
{
    bool held = false;

    while (!c->done) {
        held |= co_stop_hold();
        held |= co_park(CO_FOREVER) == CO_STOPPED;
    }
    co_stop_resume(held);
}

void workers_call(struct session_env *env, unsigned to, workers_fn *fn, void *arg)
{
    struct call c;

    if (to == env->worker) {
        fn(env, arg);
        return;
    }
    begin(&c, env, to, fn, arg);
    wait_for(&c);
}

void workers_all(struct session_env *env, workers_fn *fn, void *arg)
{
    struct call *calls = must(calloc(workers_count(env), sizeof(*calls)));

    for (unsigned i = 0; i < workers_count(env); i++) {
        if (i != env->worker)
            begin(&calls[i], env, i, fn, arg);
    }
    fn(env, arg);
    for (unsigned i = 0; i < workers_count(env); i++) {
        if (i != env->worker)
            wait_for(&calls[i]);
    }
    free(calls);
}

bool workers_ask(struct session_env *env, unsigned to, workers_fn *fn, void *arg,
                 void (*drop)(void *arg), co_usec patience)
{
    co_usec until = co_clock() + patience, left = patience;
    bool forever = patience == CO_FOREVER;
    struct call *c;

    if (to == env->worker) {
        fn(env, arg);
        return true;
    }
    c = must(malloc(sizeof(*c)));
    begin(c, env, to, fn, arg);
    while (!c->done && (forever || left > 0) && co_park(left) != CO_STOPPED)
        left = forever ? CO_FOREVER : until - co_clock();
    if (!c->done) {
        c->drop = drop;
        return false;
    }
    free(c);
    return true;
}

void workers_each(struct session_env *env, workers_fn *fn, void *arg)
{
    for (unsigned i = 0; i < workers_count(env); i++)
        workers_call(env, i, fn, arg);
}

err_t workers_first_error(err_t errs[WORKERS_MAX])
{
    err_t first = NULL;

    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        if (!first)
            first = errs[i];
        else
            err_free(&errs[i]);
    }
    return first;
}
