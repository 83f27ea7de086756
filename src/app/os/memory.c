/* SPDX-License-Identifier: MIT */
/* memory.c - memory limits for streams and for messages of all clients. */
#include "app/os/memory.h"

#include "app/os/cgroup.h"
#include "app/os/machine.h"
#include "proto/rtmp/chunk_in.h"
#include "session/workers.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    LEAST = 16 << 20,
    MESSAGES_MAX = 512 << 20,
    /* for one worker: several large frames, so that a single stream loses none */
    MESSAGES_LEAST = 8 << 20,
};

static int64_t less(int64_t a, int64_t b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

static int64_t machine(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

    return pages > 0 && size > 0 ? (int64_t)pages * size : 0;
}

static void look(void *most, const char *folder, bool old)
{
    int64_t *n = most;

    *n = less(*n, cgroup_memory(folder, old));
}

int64_t memory_of_groups(const char *root)
{
    int64_t most = 0;

    cgroup_walk(root, "memory", look, &most);
    return most;
}

/* Returns the free part of the address space: threads and libraries use the rest. */
static int64_t address_space(void)
{
    struct rlimit r;
    char text[64];
    int64_t taken;

    if (getrlimit(RLIMIT_AS, &r) < 0 || r.rlim_cur == RLIM_INFINITY)
        return 0;
    taken = machine_file("/proc/self/statm", text, sizeof(text)) ? strtoll(text, NULL, 10) : 0;
    taken *= sysconf(_SC_PAGESIZE);
    return (int64_t)r.rlim_cur > taken ? (int64_t)r.rlim_cur - taken : 1;
}

/* Returns the memory limit of this process: the lowest of the machine's memory, its control groups
 * and its limits (ulimit -v). 0: unknown. */
static int64_t memory_of_process(void)
{
    return less(less(machine(), memory_of_groups("")), address_space());
}

/* Returns this worker's share of the limit `whole` (0: no limit): its current usage plus an equal
 * part of the rest. If the limit is exceeded, each worker gives up an equal part of the excess. A
 * share is never less than half of an equal part, nor than `least`: the others follow within a
 * second. */
static size_t part(size_t whole, size_t own, size_t all, unsigned n, size_t least)
{
    size_t mine;

    if (whole == 0)
        return 0;
    if (least < whole / n / 2)
        least = whole / n / 2;
    if (least > whole)
        least = whole;
    if (all < whole)
        mine = own + (whole - all) / n;
    else
        mine = (size_t)((double)whole * (double)own / (double)all);
    return mine > least ? mine : least;
}

static size_t sum(const struct workers *w, size_t offset)
{
    size_t all = 0;

    for (unsigned i = 0; i < w->n; i++) {
        const char *gauges = (const char *)&w->v[i].gauges;

        all += atomic_load_explicit((const atomic_size_t *)(const void *)(gauges + offset),
                                    memory_order_relaxed);
    }
    return all;
}

void memory_share(struct session_env *env)
{
    struct workers *w = env->workers;
    struct worker_gauges *mine = w ? &w->v[env->worker].gauges : NULL;
    size_t memory = live_registry_memory(env->streams)->used, messages = env->messages->used;

    if (!w)
        return;
    atomic_store_explicit(&mine->memory, memory, memory_order_relaxed);
    atomic_store_explicit(&mine->messages, messages, memory_order_relaxed);
    live_registry_part(env->streams,
                       part(env->whole_memory, memory,
                            sum(w, offsetof(struct worker_gauges, memory)), w->n, 0));
    env->messages->limit = part(env->whole_messages, messages,
                               sum(w, offsetof(struct worker_gauges, messages)), w->n,
                               MESSAGES_LEAST);
}

void memory_apply(struct session_env *env)
{
    const struct conf_limits *limits = &env->conf->limits;
    int64_t streams = limits->memory, messages = limits->max_partial_total;

    if (streams == 0)
        streams = memory_of_process() / 2;
    if (streams > 0 && streams < LEAST)
        streams = LEAST;
    if (messages == 0)
        messages = streams > 0 && streams / 4 < MESSAGES_MAX ? streams / 4 : MESSAGES_MAX;
    env->whole_memory = (size_t)streams;
    env->whole_messages = (size_t)messages;
    if (env->workers) {
        memory_share(env);
        return;
    }
    env->messages->limit = (size_t)messages;
    live_registry_limit(env->streams, (size_t)streams);
}
