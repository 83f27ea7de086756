/* SPDX-License-Identifier: MIT */
/* sched_stats.h - what another thread may see of a scheduler: switches, looks for events, idle or
 * not.
 *
 * What belongs to a scheduler is thread-local, so a thread that looks after one (a watchdog, a
 * profiler) gets these pointers from it.
 */
#ifndef CO_SCHED_STATS_H
#define CO_SCHED_STATS_H

#include <stdatomic.h>
#include <stdbool.h>

struct co_sched_stats { /* copy it; valid while the thread of the scheduler lives */
    const volatile unsigned long *switches, *looks;
    const volatile int *idle;
    const atomic_bool *quiet;
};

/* Of the scheduler of the thread that calls. */
void co_sched_stats(struct co_sched_stats *out);

/* For any thread: as co_switches() and co_is_idle() of that scheduler; is it quiet (co_rouse)? */
static inline unsigned long co_sched_stats_switches(const struct co_sched_stats *p)
{
    return *p->switches;
}

/* How often it has asked the kernel for events. It does so every millisecond, between two
 * coroutines: a number that stays means that one coroutine keeps the thread. */
static inline unsigned long co_sched_stats_polls(const struct co_sched_stats *p)
{
    return *p->looks;
}

static inline bool co_sched_stats_idle(const struct co_sched_stats *p)
{
    return *p->idle;
}

static inline bool co_sched_stats_quiet(const struct co_sched_stats *p)
{
    return atomic_load_explicit(p->quiet, memory_order_relaxed);
}

#endif
