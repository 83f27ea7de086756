/* SPDX-License-Identifier: MIT */
/* worker_threads.c - the threads of all workers but the first. */
#include "app/worker_threads.h"

#include "app/dev/thread.h"
#include "app/log/file.h"
#include "app/os/cores.h"
#include "app/server_parts.h"
#include "base/container_of.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/must.h"
#include "co/stalls.h"
#include "session/stream_owners.h"
#include "session/replicas.h"
#include "session/vhost_loads.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

struct member {
    struct worker_threads *worker_threads;
    unsigned worker;
    pthread_t thread;
    bool started;
    struct co_mail ready;   /* report to the first worker: started, or failed */
    err_t err;              /* the reason if the start failed */
    struct co_mail to_end;  /* the first worker's request to end */
    struct co *co;          /* main coroutine of the thread, waits for to_end */
    bool over;              /* to_end has arrived */
};

struct worker_threads {
    struct server *first;
    struct co_group mail;     /* the coroutine that reads the first worker's mailbox */
    struct co *waiter;        /* waits until all threads have started */
    unsigned waits;           /* threads that have not reported yet */
    struct member member[WORKERS_MAX];
};

struct workers *worker_threads_table_new(unsigned n)
{
    struct workers *w = must(aligned_alloc(WORKERS_LINE, sizeof(*w)));

    *w = (struct workers){ .n = n, .stream_owners = stream_owners_new(), .loads = vhost_loads_new(),
                           .sample = server_sample };
    return w;
}

void worker_threads_table_free(struct workers *w)
{
    stream_owners_free(w->stream_owners);
    vhost_loads_free(w->loads);
    free(w);
}

struct worker_threads *worker_threads_new(struct server *first)
{
    struct worker_threads *c = must(calloc(1, sizeof(*c)));

    c->first = first;
    co_group_init(&c->mail);
    for (unsigned i = 0; i < WORKERS_MAX; i++)
        c->member[i] = (struct member){ .worker_threads = c, .worker = i };
    return c;
}

/* ---- a thread */

static err_t open_mail(struct co_group *g, struct worker *w)
{
    err_t err;

    co_group_init(g);
    co_group_init(&w->calls);
    err = co_mailbox_open(&w->mail);
    return err ? err : co_go(g, "mailbox", co_mailbox_run, &w->mail);
}

static void close_mail(struct co_group *g, struct worker *w)
{
    err_t err = co_group_wait(&w->calls);

    err_free(&err);
    err = co_group_stop(g);
    err_free(&err);
    co_mailbox_close(&w->mail);
}

/* On the first worker's thread. */
static void on_ready(struct co_mail *mail)
{
    struct member *m = container_of(mail, struct member, ready);

    m->worker_threads->waits--;
    co_unpark(m->worker_threads->waiter);
}

/* On the thread of the member. */
static void on_end(struct co_mail *mail)
{
    struct member *m = container_of(mail, struct member, to_end);

    m->over = true;
    co_unpark(m->co);
}

static struct server *make_server(struct member *m)
{
    const struct server *first = m->worker_threads->first;
    const struct server_self self = {
        .conf = first->env.conf, .id = first->id, .run = first->run,
        .workers = first->env.workers, .peers = first->env.peers,
        .guard = first->env.guard, .worker = m->worker,
    };

    return server_make(&self);
}

static void run(struct member *m)
{
    struct workers *workers = m->worker_threads->first->env.workers;
    struct worker *own = &workers->v[m->worker];
    struct co_group mail;
    struct server *s = NULL;

    m->err = open_mail(&mail, own);
    m->co = co_self();
    m->ready.fn = on_ready;
    if (!m->err) {
        s = make_server(m);
        own->env = &s->env;
    }
    workers_post(workers, 0, &m->ready);
    while (s && !m->over)
        (void)!co_park(CO_FOREVER);
    if (s)
        server_unmake(s);
    if (!m->err)
        close_mail(&mail, own);
}

static void *member_main(void *member)
{
    struct member *m = member;
    struct co_group tools;

    log_file_join();
    cores_pin(m->worker_threads->first->env.conf, m->worker);
    m->err = co_init();
    if (m->err) {
        m->ready.fn = on_ready;
        workers_post(m->worker_threads->first->env.workers, 0, &m->ready);
    } else {
        thread_begin(&tools, m->worker);
        run(m);
        thread_end(&tools);
        co_fini();
    }
    log_file_leave();
    return NULL;
}

/* ---- all threads */

/* Blocks signals in the new thread: only the first worker handles them. */
static err_t start_one(struct worker_threads *c, struct member *m)
{
    sigset_t all, old;
    int rc;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    rc = pthread_create(&m->thread, NULL, member_main, m);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    m->started = rc == 0;
    return rc ? err_new(ERR_SYSTEM, "no thread for worker %u of %u", m->worker,
                        c->first->env.workers->n)
              : NULL;
}

static void tell_to_end(struct worker_threads *c)
{
    for (unsigned i = 1; i < WORKERS_MAX; i++) {
        struct member *m = &c->member[i];

        if (!m->started || m->err)
            continue;
        m->to_end.fn = on_end;
        workers_post(c->first->env.workers, i, &m->to_end);
    }
}

/* Ends all threads because one of them could not start. */
static void dismiss(struct worker_threads *c)
{
    tell_to_end(c);
    c->first->env.workers->n = 1;
}

err_t worker_threads_start(struct worker_threads *c)
{
    struct workers *w = c->first->env.workers;
    err_t err = open_mail(&c->mail, &w->v[0]);

    w->v[0].env = &c->first->env;
    c->waiter = co_self();
    log_file_join();
    mem_threads(w->n);
    for (unsigned i = 1; i < w->n && !err; i++) {
        err = start_one(c, &c->member[i]);
        c->waits += !err;
    }
    while (c->waits > 0)
        (void)!co_park(CO_FOREVER);
    for (unsigned i = 1; i < w->n && !err; i++)
        err = c->member[i].err;
    if (err)
        dismiss(c);
    return err;
}

/* Stops one worker. Long operations are cut short, since no client waits for them any more. */
static void stop_one(struct session_env *env, void *unused)
{
    (void)unused;
    co_stalls_stop();
    server_stop(env->arg);
}

static void end_replicas(struct session_env *env, void *unused)
{
    (void)unused;
    replicas_close_all(env);
}

void worker_threads_stop(struct worker_threads *c)
{
    struct workers *w = c->first->env.workers;

    atomic_store(&w->ending, true);
    workers_all(&c->first->env, stop_one, NULL);
    workers_all(&c->first->env, end_replicas, NULL);
    if (w->n > 1)
        tell_to_end(c);
}

void worker_threads_free(struct worker_threads *c, struct workers *w)
{
    for (unsigned i = 1; i < WORKERS_MAX; i++) {
        if (c->member[i].started)
            (void)pthread_join(c->member[i].thread, NULL);
        err_free(&c->member[i].err);
    }
    close_mail(&c->mail, &w->v[0]);
    free(c);
}
