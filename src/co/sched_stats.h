/* SPDX-License-Identifier: MIT */
/* sched_stats.h - scheduler counters for other threads: switches, polls for events, idle or not.
 *
 * The state of a scheduler is thread-local, so a thread that watches one (a watchdog, a profiler)
 * gets these pointers from it.
 */
#ifndef CO_SCHED_STATS_H
#define CO_SCHED_STATS_H

#include <stdatomic.h>
#include <stdbool.h>

struct co_sched_stats { /* copy it; valid while the thread of the scheduler lives */
    const volatile unsigned long *switches, *polls;
    const volatile int *idle;
    const atomic_bool *quiet;
};

/* Fills in the pointers for the scheduler of the calling thread. */
void co_sched_stats(struct co_sched_stats *out);

/* For any thread: the values of co_switches() and co_is_idle() of that scheduler, and whether it is
 * quiet (see co_rouse()). */
static inline unsigned long co_sched_stats_switches(const struct co_sched_stats *p)
{
    return *p->switches;
}

/* Number of polls for events. A scheduler polls every millisecond, between two coroutines: if the
 * number does not change, one coroutine keeps the thread. */
static inline unsigned long co_sched_stats_polls(const struct co_sched_stats *p)
{
    return *p->polls;
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
