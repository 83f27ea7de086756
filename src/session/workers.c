/* SPDX-License-Identifier: MIT */
/* workers.c - what one worker wants of another. */
#include "session/workers.h"

#include "base/container_of.h"
#include "base/log.h"

#include <stdlib.h>

unsigned workers_count(const struct session_env *env)
{
    return env->workers ? env->workers->n : 1;
}

void workers_post(struct workers *w, unsigned to, struct co_mail *m)
{
    co_mailbox_post(&w->v[to].mail, m);
}

struct call {
    struct co_mail mail; /* there, and the same one back */
    struct workers *workers;
    unsigned from, to;
    workers_fn *fn;
    void *arg;
    struct co *caller;
    bool done;
};

static void on_done(struct co_mail *m)
{
    struct call *c = container_of(m, struct call, mail);

    c->done = true;
    co_unpark(c->caller);
}

static err_t call_main(void *call)
{
    struct call *c = call;

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

void workers_call(struct session_env *env, unsigned to, workers_fn *fn, void *arg)
{
    struct call c = { .mail.fn = on_call, .workers = env->workers, .from = env->worker, .to = to,
                      .fn = fn, .arg = arg, .caller = co_self() };
    bool held = false;

    if (to == env->worker) {
        fn(env, arg);
        return;
    }
    workers_post(env->workers, to, &c.mail);
    while (!c.done) { /* it is on our stack: asked to stop or not */
        held |= co_stop_hold();
        held |= co_park(CO_FOREVER) == CO_STOPPED;
    }
    co_stop_resume(held);
}

void workers_each(struct session_env *env, workers_fn *fn, void *arg)
{
    for (unsigned i = 0; i < workers_count(env); i++)
        workers_call(env, i, fn, arg);
}
