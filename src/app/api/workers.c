/* SPDX-License-Identifier: MIT */
/* workers.c - /api/v1/workers: how much each of them has to do. */
#include "app/api/workers.h"

/* What is known of others alone, for one that is alone has none of it. */
static void look_at_gauges(struct worker *w, struct api_worker *out)
{
    struct worker_gauges *g = &w->gauges;

    out->replicas = atomic_load_explicit(&g->replicas, memory_order_relaxed);
    out->moved_in = atomic_load_explicit(&g->moved_in, memory_order_relaxed);
    out->moved_out = atomic_load_explicit(&g->moved_out, memory_order_relaxed);
    out->mailbox = co_mailbox_late(&w->mail);
}

void api_worker_look(const struct api_parts *of, unsigned worker, struct api_worker *out)
{
    struct session_env *env = of->env;
    struct figures_of whose = api_figures_of(of);
    struct figures f;

    figures_one(&whose, worker, &f);
    *out = (struct api_worker){
        .thread = (int)f.thread, .connections = (unsigned)f.connections,
        .publishers = (unsigned)f.publishers, .players = (unsigned)f.players,
        .streams = (unsigned)f.streams, .late = (co_usec)f.late_now,
        .load = worker == env->worker ? co_load() :
            atomic_load_explicit(&env->workers->v[worker].gauges.load, memory_order_relaxed),
    };
    if (f.taken_at)
        out->age = co_clock() - (co_usec)f.taken_at;
    if (env->workers)
        look_at_gauges(&env->workers->v[worker], out);
}

static void put_worker(struct jput *j, unsigned worker, const struct api_worker *v)
{
    jput_open(j, NULL, '{');
    jput_uint(j, "worker", worker);
    jput_int(j, "thread", v->thread);
    jput_uint(j, "cpu", v->load);
    jput_uint(j, "connections", v->connections);
    jput_uint(j, "publishers", v->publishers);
    jput_uint(j, "players", v->players);
    jput_uint(j, "streams", v->streams);
    jput_uint(j, "replicas", v->replicas);
    jput_uint(j, "moved_in", v->moved_in);
    jput_uint(j, "moved_out", v->moved_out);
    jput_real(j, "late_ms", (double)v->late / 1000, 3);
    jput_int(j, "mailbox_ms", us_to_ms(v->mailbox));
    jput_int(j, "silent_ms", us_to_ms(v->age));
    jput_close(j, '}');
}

static err_t workers(struct api_call *c)
{
    jput_open(&c->j, "workers", '[');
    for (unsigned i = 0; i < workers_count(c->of->env); i++) {
        struct api_worker v;

        api_worker_look(c->of, i, &v);
        put_worker(&c->j, i, &v);
    }
    jput_close(&c->j, ']');
    return NULL;
}

const struct api_row api_rows_workers[] = {
    { "workers", "how much each worker has to do", API_READ, workers, NULL },
};
const size_t api_rows_workers_n = sizeof(api_rows_workers) / sizeof(api_rows_workers[0]);
