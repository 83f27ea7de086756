/* SPDX-License-Identifier: MIT */
/* stat_worker.c - what the workers did between two lines of the log. */
#include "app/os/stat_worker.h"

#include <string.h>

/* They count once a second. */
#define SILENT CO_MS(2500)

enum { BUCKETS = 9, VERY_LATE = 6 }; /* of struct co_lateness: from 40 ms apart on, of 20 */

static uint64_t get(const atomic_ulong *gauge)
{
    return atomic_load_explicit(gauge, memory_order_relaxed);
}

void stat_counts_take(const struct figures_of *of, unsigned worker, struct stat_counts *out)
{
    const struct worker_gauges *g = &of->env->workers->v[worker].gauges;
    struct figures f;

    figures_one(of, worker, &f);
    *out = (struct stat_counts){
        .at = (co_usec)f.taken_at,
        .server = { .connections = (unsigned)f.connections, .publishers = (unsigned)f.publishers,
                    .players = (unsigned)f.players, .streams = (unsigned)f.streams,
                    .forwards = (unsigned)(f.forwards[0] + f.forwards[1]) },
        .replicas = atomic_load_explicit(&g->replicas, memory_order_relaxed),
        .coroutines = (unsigned)f.coroutines, .cpu = f.cpu, .switches = f.switches,
        .held = f.held, .holds = f.holds,
        .moved_in = get(&g->moved_in), .moved_out = get(&g->moved_out),
        .late_sum = f.late_us,
    };
    memcpy(out->late, f.late, sizeof(out->late));
}

/* Between the samples, which is not between the lines. */
static co_usec span(const struct stat_counts *last, const struct stat_counts *now)
{
    return now->at > last->at ? now->at - last->at : 1;
}

static unsigned long a_second(const struct stat_counts *last, const struct stat_counts *now)
{
    return (unsigned long)((now->switches - last->switches) * 1000000 /
                           (uint64_t)span(last, now));
}

static void find_lateness(const struct stat_counts *last, const struct stat_counts *now,
                          struct stat_worker *out)
{
    uint64_t ticks = 0;

    for (int i = 0; i < BUCKETS; i++) {
        uint64_t n = now->late[i] - last->late[i];

        ticks += n;
        if (i >= VERY_LATE)
            out->very_late += (unsigned long)n;
    }
    if (ticks)
        out->late = (double)(now->late_sum - last->late_sum) / (double)ticks / 1000;
}

void stat_worker_between(const struct stat_counts *last, const struct stat_counts *now, co_usec at,
                         struct stat_worker *out)
{
    co_usec seen = now->at > last->at ? now->at : last->at;

    *out = (struct stat_worker){
        .server = now->server, .replicas = now->replicas,
        .moved_in = (unsigned long)(now->moved_in - last->moved_in),
        .moved_out = (unsigned long)(now->moved_out - last->moved_out),
        .coroutines = now->coroutines, .held = (unsigned long)(now->held - last->held),
        .holds = (unsigned long)(now->holds - last->holds),
        .switches = a_second(last, now),
        .cpu = 100.0 * (double)(now->cpu - last->cpu) / (double)span(last, now),
    };
    if (at - seen > SILENT)
        out->silent = at - seen;
    find_lateness(last, now, out);
}

void stat_worker_add(struct stat_line *to, const struct stat_counts *last,
                     const struct stat_counts *now)
{
    to->switches += a_second(last, now);
    to->coroutines += now->coroutines;
    to->server.forwards += now->server.forwards;
    to->held += (unsigned long)(now->held - last->held);
    to->holds += (unsigned long)(now->holds - last->holds);
    for (int i = 0; i < BUCKETS - 1; i++)
        to->clock.counts[i] += (unsigned)(now->late[i] - last->late[i]);
    to->clock.later += (unsigned)(now->late[BUCKETS - 1] - last->late[BUCKETS - 1]);
}
