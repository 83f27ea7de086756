/* SPDX-License-Identifier: MIT */
/* workers.c - the load of each worker: /api/v1/workers, and metrics if there are several workers.
 * It never waits for a worker. */
#include "app/api/metrics_impl.h"
#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>

struct worker_stat {
    uint64_t worker, thread, load;       /* load in thousandths of a core */
    uint64_t connections, publishers, players, streams, replicas, moved_in, moved_out;
    co_usec late;                        /* mean timer lateness of the last second */
    co_usec mailbox;                     /* age of its oldest message */
    co_usec age;                         /* age of these counters */
};

#define AT(field) .at = offsetof(struct worker_stat, field)

static const struct jput_field fields[] = {
    { "worker", AT(worker) }, { "thread", AT(thread) }, { "cpu", AT(load) },
    { "connections", AT(connections) }, { "publishers", AT(publishers) },
    { "players", AT(players) }, { "streams", AT(streams) }, { "replicas", AT(replicas) },
    { "moved_in", AT(moved_in) }, { "moved_out", AT(moved_out) },
    { "late_ms", AT(late), JPUT_MILLI }, { "mailbox_ms", AT(mailbox), JPUT_WHOLE },
    { "silent_ms", AT(age), JPUT_WHOLE },
};

static const struct counter_row rows[] = {
    { "srs_worker_busy_ratio", "Load of the worker, 0 to 1.", AT(load),
      .unit = COUNTER_MS },
    { "srs_worker_connections", "Its connections.", AT(connections) },
    { "srs_worker_publishers", "Its publishers.", AT(publishers) },
    { "srs_worker_players", "Its players.", AT(players) },
    { "srs_worker_streams", "Its streams, with replicas.", AT(streams) },
    { "srs_worker_replicas", "Replicas of streams of other workers.", AT(replicas) },
    { "srs_worker_moved_in_total", "Clients that moved here from other workers.", AT(moved_in) },
    { "srs_worker_moved_out_total", "Clients that moved to other workers.", AT(moved_out) },
    { "srs_worker_lateness_seconds", "Mean timer lateness of the last second.", AT(late),
      .unit = COUNTER_US },
    { "srs_worker_mailbox_seconds", "Age of the oldest message in its mailbox.", AT(mailbox),
      .unit = COUNTER_US },
    { "srs_worker_silent_seconds",
      "Age of these counters: more than 2 s means that the worker is stalled.", AT(age),
      .unit = COUNTER_US },
};

static void read_worker(const struct api_parts *of, unsigned i, struct worker_stat *out)
{
    struct session_env *env = of->env;
    struct worker_counters_of whose = api_counters_of(of);
    struct worker_counters f;

    worker_counters_one(&whose, i, &f);
    *out = (struct worker_stat){
        .worker = i, .thread = f.thread, .connections = f.connections,
        .publishers = f.publishers, .players = f.players, .streams = f.streams,
        .replicas = f.replicas, .moved_in = f.moved_in, .moved_out = f.moved_out,
        .late = (co_usec)f.late_now,
        .load = i == env->worker ? co_load() :
            atomic_load_explicit(&env->workers->v[i].gauges.load, memory_order_relaxed),
        .mailbox = env->workers ? co_mailbox_late(&env->workers->v[i].mail) : 0,
        .age = f.taken_at ? co_clock() - (co_usec)f.taken_at : 0,
    };
}

static const char *number(unsigned i)
{
    static _Thread_local char text[12];

    (void)snprintf(text, sizeof(text), "%u", i);
    return text;
}

void metrics_put_workers(struct wr *w, const struct api_parts *of)
{
    unsigned n = workers_count(of->env);
    struct worker_stat *v;

    if (n < 2)
        return;
    v = must(calloc(n, sizeof(*v)));
    for (unsigned i = 0; i < n; i++)
        read_worker(of, i, &v[i]);
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        struct counter_row row = rows[k];

        row.n = (uint16_t)n;
        row.label = "worker";
        row.value = number;
        row.step = sizeof(*v);
        prom_rows(w, &row, 1, v);
    }
    free(v);
}

static err_t workers(struct api_call *c)
{
    jput_open(&c->j, "workers", '[');
    for (unsigned i = 0; i < workers_count(c->of->env); i++) {
        struct worker_stat v;

        read_worker(c->of, i, &v);
        jput_open(&c->j, NULL, '{');
        jput_fields(&c->j, fields, sizeof(fields) / sizeof(fields[0]), &v);
        jput_close(&c->j, '}');
    }
    jput_close(&c->j, ']');
    return NULL;
}

const struct api_row api_rows_workers[] = {
    { "workers", "load of each worker", API_READ, workers, NULL },
    { .path = NULL },
};
