/* SPDX-License-Identifier: MIT */
/* worker_counters.c - counters of each worker and their sum over the process. */
#include "app/worker_counters.h"

#include "app/protocols.h"
#include "av/packet.h"
#include "base/container_of.h"
#include "base/must.h"
#include "co/os/child.h"
#include "co/watchdog.h"
#include "proto/rtmp/chunk_in.h"
#include "pull/ingest/ingests.h"
#include "sink/forward/forward.h"
#include "sink/program/children.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    WORDS = sizeof(struct worker_counters) / sizeof(uint64_t),
    SUMS = offsetof(struct worker_counters, held_by), /* bytes */
};

/* Time that another worker has to publish. A worker whose mail has waited for longer than STALLED
 * is not asked at all. */
#define REFRESH_TIME CO_MS(50)
#define STALLED CO_MS(100)

_Static_assert(sizeof(struct worker_counters) <= WORKERS_COUNTERS * sizeof(uint64_t),
               "there is room");

/* Lateness of this thread's timers in the last second. */
static _Thread_local struct {
    uint64_t ticks, late_us, mean;
} lately;

/* ---- counters of this worker */

static void take_memory(struct worker_counters *f, const struct session_env *env)
{
    const struct live_memory *m = live_registry_memory(env->streams);

    f->memory = m->used;
    f->squeezed = m->squeezed;
    f->squeezed_bytes = m->squeezed_bytes;
    if (env->messages) {
        f->messages = env->messages->used;
        f->evicted = env->messages->evicted;
    }
}

static void count_forward(void *arg, const struct forward_info *one)
{
    struct worker_counters *f = arg;

    f->forwards[one->publishing]++;
}

static void take_outputs(struct worker_counters *f, const struct worker_counters_of *of)
{
    const struct ingest_run *file = NULL;
    const struct job *job = NULL;
    struct job_info info;

    while (of->children && (job = children_next(of->children, job))) {
        job_poll(job, &info);
        f->children[info.kind][info.state]++;
    }
    while (of->files && (file = ingests_next(of->files, file))) {
        ingests_info(file, &info);
        f->children[info.kind][info.state]++;
    }
    if (of->forwards)
        forwards_each(of->forwards, count_forward, f);
}

static const struct counter_table *table(int protocol)
{
    return protocols[protocol]->counters;
}

/* Returns the index of the protocol's first counter in `counters`. */
static size_t table_at(int protocol)
{
    size_t at = 0;

    while (protocol-- > 0)
        at += table(protocol) ? table(protocol)->size / sizeof(uint64_t) : 0;
    return at;
}

static void take_tables(struct worker_counters *f, const struct session_env *env)
{
    assert(table_at(PROTOCOLS) <= TABLE_WORDS);
    for (int i = 0; i < PROTOCOLS; i++)
        f->services[i] = table(i) && table(i)->read(env, &f->counters[table_at(i)]);
}

static void take_objects(struct worker_counters *f, const struct session_env *env)
{
    f->snapshots = env->worker == 0 ? (uint64_t)conf_live() : 0; /* a count of the process */
    f->errors = (uint64_t)err_live();
    f->packets = (uint64_t)av_packet_live();
    f->sources = (uint64_t)live_source_live();
    f->processes = (uint64_t)co_child_live();
}

static void take_thread(struct worker_counters *f)
{
    const struct co_stalls *h;
    size_t n = co_stalls_list(&h);
    struct co_lateness l;

    f->cpu = (uint64_t)clock_us(CLOCK_THREAD_CPUTIME_ID);
    f->coroutines = (uint64_t)co_live();
    f->switches = co_switches();
    f->held = co_watchdog_count();
    f->holds = co_stalls_count();
    for (size_t i = 0; i < n; i++) {
        f->held_by[i].name = (uintptr_t)h[i].name; /* a literal, valid on all threads */
        f->held_by[i].count = h[i].count;
        f->held_by[i].longest = (uint64_t)h[i].longest;
    }
    co_lateness(&l);
    memcpy(f->late, l.counts, sizeof(f->late));
    f->late_us = (uint64_t)l.sum;
    f->thread = (uint64_t)gettid();
    f->late_now = lately.mean;
    f->taken_at = (uint64_t)co_clock();
}

static void take_gauges(struct worker_counters *f, const struct worker_gauges *g)
{
    f->replicas = atomic_load_explicit(&g->replicas, memory_order_relaxed);
    f->moved_in = atomic_load_explicit(&g->moved_in, memory_order_relaxed);
    f->moved_out = atomic_load_explicit(&g->moved_out, memory_order_relaxed);
}

static void take(const struct worker_counters_of *of, struct worker_counters *f)
{
    struct session_env *env = of->env;

    *f = (struct worker_counters){
        .connections = of->connections, .publishers = env->publishers, .players = env->players,
        .streams = live_registry_count(env->streams),
    };
    if (env->workers)
        take_gauges(f, &env->workers->v[env->worker].gauges);
    f->at_home = f->streams - f->replicas;
    for (int i = 0; i < CLIENTS_TYPES; i++)
        f->types[i] = *clients_total(env->clients, (enum clients_type)i);
    for (int k = 0; k < REJECT_KINDS; k++)
        f->refused[k] = env->reject_counters.v[k].total;
    for (int i = 0; env->hooks && i < HOOKS_KINDS; i++)
        f->hooks[i] = *hooks_stat(env->hooks, (enum hooks_action)i);
    f->hooks_waiting = env->hooks ? hooks_waiting(env->hooks) : 0;
    for (int i = CONF_PUBLISH; env->tokens && i <= CONF_PLAY; i++)
        f->tokens[i] = *tokens_stat(env->tokens, (enum conf_action)i);
    take_memory(f, env);
    take_outputs(f, of);
    if (env->vod)
        vod_stat(env->vod, &f->vod);
    take_tables(f, env);
    take_objects(f, env);
    take_thread(f);
}

/* ---- publishing */

static void measure_lateness(void)
{
    struct co_lateness l;
    uint64_t ticks = 0, late;

    co_lateness(&l);
    for (size_t i = 0; i < sizeof(l.counts) / sizeof(l.counts[0]); i++)
        ticks += l.counts[i];
    late = (uint64_t)l.sum - lately.late_us;
    lately.mean = ticks > lately.ticks ? late / (ticks - lately.ticks) : 0;
    lately.ticks = ticks;
    lately.late_us = (uint64_t)l.sum;
}

static void set(atomic_uint *gauge, uint64_t v)
{
    atomic_store_explicit(gauge, (unsigned)v, memory_order_relaxed);
}

/* Word i of the struct. Copying word by word avoids a second large struct on the stack. */
static uint64_t word(const struct worker_counters *f, size_t i)
{
    uint64_t v;

    memcpy(&v, (const char *)f + i * sizeof(v), sizeof(v));
    return v;
}

static void set_word(struct worker_counters *f, size_t i, uint64_t v)
{
    memcpy((char *)f + i * sizeof(v), &v, sizeof(v));
}

static void publish(struct worker *w, const struct worker_counters *f)
{
    for (size_t i = 0; i < WORDS; i++)
        atomic_store_explicit(&w->worker_counters[i], word(f, i), memory_order_relaxed);
    set(&w->gauges.load, co_load());
    set(&w->gauges.connections, f->connections);
    set(&w->gauges.publishers, f->publishers);
    set(&w->gauges.players, f->players);
    set(&w->gauges.streams, f->streams);
    atomic_store_explicit(&w->gauges.memory, (size_t)f->memory, memory_order_relaxed);
}

void worker_counters_sample(const struct worker_counters_of *of)
{
    measure_lateness();
    worker_counters_publish(of);
}

void worker_counters_publish(const struct worker_counters_of *of)
{
    struct worker_counters f;

    if (!of->env->workers)
        return;
    take(of, &f);
    publish(&of->env->workers->v[of->env->worker], &f);
}

void worker_counters_one(const struct worker_counters_of *of, unsigned worker,
                         struct worker_counters *out)
{
    if (worker == of->env->worker) {
        take(of, out);
        return;
    }
    for (size_t i = 0; i < WORDS; i++)
        set_word(out, i, atomic_load_explicit(&of->env->workers->v[worker].worker_counters[i],
                                              memory_order_relaxed));
}

/* ---- refreshing the other workers */

static void sample(struct session_env *env, void *none)
{
    (void)none;
    env->workers->sample(env);
}

static void drop_nothing(void *none)
{
    (void)none;
}

void worker_counters_refresh(const struct worker_counters_of *of)
{
    struct workers *w = of->env->workers;
    bool ok = true;

    for (unsigned i = 0; w && w->sample && i < w->n && !co_stop_asked(); i++) {
        if (i != of->env->worker && co_mailbox_late(&w->v[i].mail) < STALLED)
            ok &= workers_ask(of->env, i, sample, NULL, drop_nothing, REFRESH_TIME);
    }
    (void)ok; /* a slow worker keeps its counters of a second ago */
}

/* ---- sums */

const struct counter_table *worker_counters_table(const struct worker_counters *f, unsigned *i,
                                          const void **counters)
{
    while (*i < PROTOCOLS && !f->services[*i])
        ++*i;
    if (*i == PROTOCOLS)
        return NULL;
    *counters = &f->counters[table_at((int)*i)];
    return table((int)*i);
}

const char *worker_counters_held_by(const struct worker_counters *f, size_t i)
{
    return i < CO_STALLS_NAMES ? (const char *)(uintptr_t)f->held_by[i].name : NULL;
}

/* Returns the index of that name, or a free one, or the last, which collects the rest. */
static size_t index_of(const struct worker_counters *f, const char *name)
{
    size_t i = 0;

    while (i < CO_STALLS_NAMES - 1 && worker_counters_held_by(f, i) &&
           strcmp(worker_counters_held_by(f, i), name) != 0)
        i++;
    return i;
}

static void add_stalls(struct worker_counters *sum, const struct worker_counters *one)
{
    const char *name;

    for (size_t i = 0; (name = worker_counters_held_by(one, i)); i++) {
        size_t at = index_of(sum, name);

        if (!sum->held_by[at].name)
            sum->held_by[at].name = (uintptr_t)(at < CO_STALLS_NAMES - 1 ? name : "others");
        sum->held_by[at].count += one->held_by[i].count;
        if (sum->held_by[at].longest < one->held_by[i].longest)
            sum->held_by[at].longest = one->held_by[i].longest;
    }
}

static void add(struct worker_counters *sum, const struct worker_counters *one)
{
    counters_add(sum, one, SUMS);
    add_stalls(sum, one);
}

void worker_counters_sum(const struct worker_counters_of *of, struct worker_counters *out)
{
    struct worker_counters *one = must(malloc(sizeof(*one)));

    take(of, out);
    for (unsigned i = 0; i < workers_count(of->env); i++) {
        if (i == of->env->worker)
            continue;
        worker_counters_one(of, i, one);
        add(out, one);
    }
    free(one);
    if (of->env->workers) /* the process counts connections itself, for their limit */
        out->connections = workers_connections(of->env);
}
