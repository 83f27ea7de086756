/* SPDX-License-Identifier: MIT */
/* server.c - the server of the process: starts, reloads and ends the parts of all workers. */
#include "app/server.h"

#include "app/worker_threads.h"
#include "app/os/cores.h"
#include "app/server_parts.h"
#include "app/sinks.h"
#include "base/must.h"
#include "base/random_id.h"
#include "session/guard.h"
#include "session/stream_owners.h"
#include "session/jwks_files.h"
#include "session/address_limits.h"
#include "sink/forward/forward.h"

#include <stdlib.h>

struct server *server_new(struct conf *conf, const char *id)
{
    char run[SERVER_RUN];
    struct server_self self = { .conf = conf, .id = id, .run = run };
    unsigned n = (unsigned)cores_workers(conf);
    struct server *s;

    random_id(run, sizeof(run) - 1);
    self.workers = n > 1 ? worker_threads_table_new(n) : NULL;
    self.peers = address_limits_new((size_t)conf->max_connections);
    self.guard = guard_new();
    s = server_make(&self);
    if (n > 1) {
        address_limits_share(self.peers);
        s->worker_threads = worker_threads_new(s);
    }
    return s;
}

/* ---- reload */

static void next_free(struct server_next *next)
{
    for (unsigned i = 0; i < WORKERS_MAX; i++) {
        services_tls_free(&next->part[i].tls);
        (void)jwks_files_unref(next->part[i].jwks);
    }
    listeners_plan_free(next->plan);
    server_datagram_next_free(next->datagram);
    free(next);
}

/* Does everything that can fail, before any worker changes. */
static err_t prepare(struct server *s, struct conf *conf, struct server_next **out)
{
    struct server_next *next = must(calloc(1, sizeof(*next)));
    unsigned n = workers_count(&s->env);
    struct listeners_want wanted[SERVICES];
    err_t err = services_tls_load(&next->part[0].tls, conf);

    next->conf = conf;
    for (unsigned i = 0; i < n && !err; i++) {
        if (i > 0)
            next->part[i].tls = services_tls_share(&next->part[0].tls);
        err = jwks_files_read(&next->part[i].jwks, conf);
    }
    if (!err)
        err = listeners_prepare(&next->plan, s->listeners, wanted, services_wanted(conf, wanted),
                                n);
    if (!err)
        err = server_datagram_prepare(&next->datagram, &s->env, conf);
    *out = err ? NULL : next;
    if (err)
        next_free(next);
    return err;
}

static void run_one(struct session_env *env, void *errs)
{
    ((err_t *)errs)[env->worker] = server_run(env->arg);
}

static err_t run_all(struct server *s)
{
    err_t errs[WORKERS_MAX] = { NULL };

    workers_each(&s->env, run_one, errs);
    return workers_first_error(errs);
}

err_t server_listen(struct server *s)
{
    struct server_next *next = NULL;
    err_t err = s->worker_threads ? worker_threads_start(s->worker_threads) : NULL;

    if (!err)
        err = server_datagram_listen(s); /* before HTTP can bring WebRTC offers */
    if (!err)
        err = prepare(s, s->env.conf, &next);
    if (err)
        return err;
    cores_pin(s->env.conf, 0); /* after the other threads started: they would inherit it */
    workers_each(&s->env, server_apply, next);
    next_free(next);
    return run_all(s);
}

err_t server_reload(struct server *s, struct conf *conf)
{
    struct server_next *next = NULL;
    err_t err = prepare(s, conf, &next);

    if (err)
        return err_wrap(err, "the old configuration stays");
    workers_each(&s->env, server_apply, next);
    next_free(next);
    return NULL;
}

struct conf *server_conf(struct server *s)
{
    return s->env.conf;
}

struct reload_report *server_reload_report(struct server *s)
{
    return &s->reload;
}

/* ---- shutdown */

static void close_listeners(struct session_env *env, void *unused)
{
    struct server *s = env->arg;

    (void)unused;
    listeners_close(s->listeners);
    server_datagram_refuse(env);
}

void server_close_listeners(struct server *s)
{
    workers_each(&s->env, close_listeners, NULL);
    sinks_stop_ingest(s->sinks); /* ingests are clients that never end on their own */
}

void server_free(struct server *s)
{
    struct workers *workers = s->env.workers;
    struct address_limits *peers = s->env.peers;
    struct guard *guard = s->env.guard;
    struct worker_threads *worker_threads = s->worker_threads;

    if (worker_threads)
        worker_threads_stop(worker_threads);
    else
        server_stop(s);
    server_unmake(s);
    if (worker_threads)
        worker_threads_free(worker_threads, workers);
    if (workers)
        worker_threads_table_free(workers);
    address_limits_free(peers);
    guard_free(guard);
}

/* ---- queries */

unsigned server_connections(const struct server *s)
{
    return workers_connections(&s->env);
}

struct workers *server_workers(const struct server *s)
{
    return s->env.workers;
}

struct worker_counters_of server_counters(const struct server *s)
{
    return api_counters_of(api_parts_of(s->api));
}
