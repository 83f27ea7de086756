/* SPDX-License-Identifier: MIT */
/* stat_stall.c - logs which worker is stalled. */
#include "app/os/stat_stall.h"

#include "app/worker_counters.h"
#include "app/server.h"
#include "base/log.h"
#include "base/must.h"

#include <stdlib.h>

#define TOO_LATE CO_SECONDS(1)
#define LOOK CO_SECONDS(1)
#define POLL_STALLED CO_MS(100) /* while a worker is late, to measure for how long */
#define SAMPLES CO_SECONDS(1)   /* longest time between calls of worker_counters_sample() */
#define SAME CO_MS(5)           /* clocks are read at nearly the same time */

void stat_stall_check(struct stat_stall *h, unsigned worker, co_usec late, co_usec now)
{
    co_usec since = now - late;

    if (h->since && (late == 0 || since > h->since + SAME)) {
        log_warn("worker %u continues after %lld ms", worker, us_to_ms(now - h->since));
        h->since = 0;
    }
    if (!h->since && late > TOO_LATE) {
        log_warn(
            "worker %u has been stalled for %lld ms: it reads no messages, its clients wait. A "
            "watchdog line names the coroutine; without one it gets no CPU time",
            worker, us_to_ms(late));
        h->since = since;
    }
}

/* A worker may have no mail for a while, but it always publishes counters. */
static co_usec lateness(const struct worker_counters_of *of, unsigned worker, co_usec began,
                        co_usec now)
{
    co_usec mail = co_mailbox_late(&of->env->workers->v[worker].mail), sample;
    struct worker_counters f;

    worker_counters_one(of, worker, &f);
    sample = now - SAMPLES - ((co_usec)f.taken_at > began ? (co_usec)f.taken_at : began);
    return mail > sample ? mail : sample > 0 ? sample : 0;
}

static bool look_at_all(const struct server *server, co_usec began, struct stat_stall *v)
{
    struct worker_counters_of of = server_counters(server);
    bool some = false;

    for (unsigned i = 0; i < of.env->workers->n; i++) {
        co_usec now = co_clock();

        stat_stall_check(&v[i], i, lateness(&of, i, began, now), now);
        some |= v[i].since != 0;
    }
    return some;
}

err_t stat_stall_run(void *server)
{
    struct stat_stall *v = must(calloc(WORKERS_MAX, sizeof(*v)));
    co_usec began = co_clock();
    err_t err = NULL;

    while (!err) {
        bool some = look_at_all(server, began, v);

        err = co_sleep(some ? POLL_STALLED : co_to_second(LOOK, co_now()));
    }
    free(v);
    return err;
}
