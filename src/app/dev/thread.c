/* SPDX-License-Identifier: MIT */
/* thread.c - registers another thread that runs coroutines with the tools that monitor them. */
#include "app/dev/thread.h"

#include "app/dev/crash.h"
#include "app/dev/heap.h"
#include "app/dev/profile.h"
#include "base/log.h"
#include "co/stalls.h"
#include "co/watchdog.h"

#include <pthread.h>
#include <stdio.h>

#define TEND_EVERY CO_SECONDS(5)

static void set_name(unsigned worker)
{
    char name[16]; /* the system's limit */

    (void)snprintf(name, sizeof(name), "srs-w%u", worker);
    (void)pthread_setname_np(pthread_self(), name);
}

static err_t tend(void *unused)
{
    err_t err;

    (void)unused;
    while (!(err = co_sleep(co_to_second(TEND_EVERY, co_now()))))
        heap_tend_regions();
    return err;
}

/* A failure is only logged, since the worker can serve without these helpers. */
static void start(struct co_group *g)
{
    char text[256];
    err_t err = co_watchdog_join();

    if (!err)
        err = co_go(g, "watchdog", co_watchdog_run, NULL);
    if (!err)
        err = co_go(g, "memory", tend, NULL);
    if (err)
        log_warn("worker %d: %s", co_number(), err_text(err, text, sizeof(text)));
    err_free(&err);
}

void thread_begin(struct co_group *g, unsigned worker)
{
    set_name(worker);
    co_set_number(worker);
    crash_thread_init();
    profile_thread_begin();
    co_stalls_start();
    co_group_init(g);
    start(g);
}

void thread_end(struct co_group *g)
{
    err_t err = co_group_stop(g);

    err_free(&err);
    co_stalls_stop();
    co_watchdog_leave();
    profile_thread_end();
}
