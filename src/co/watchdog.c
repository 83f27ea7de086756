/* SPDX-License-Identifier: MIT */
/* watchdog.c - a thread that checks whether the schedulers still poll for events. */
#include "co/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <st.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/list.h"
#include "base/log.h"
#include "base/must.h"
#include "co/notify.h"
#include "co/sched_stats.h"
#include "co/ticker.h"
#include "co/trace.h"

enum { CHECK_MS = 50, QUIET_MS = 1000, LATE_MS = 500 };
enum { NAME_SIZE = 32, CID_SIZE = 16, THREAD_STACK = 256 * 1024 };

/* The coroutine that kept the thread. Filled by the signal handler on the thread of the scheduler
 * when `signalled`, read by the coroutine that logs: both on one thread. */
struct held {
    bool full;
    char name[NAME_SIZE], cid[CID_SIZE];
    uintptr_t pc[CO_TRACE_MAX];
    int depth;
};

/* A watched scheduler. */
struct watched {
    struct watched *next; /* under the lock, as are the watchdog thread's fields: */
    pthread_t thread;
    clockid_t cpu;
    struct co_sched_stats stats;
    unsigned long seen; /* number of polls for events */
    co_usec began, began_cpu;
    bool signalled;
    _Atomic co_usec since, since_cpu; /* when the reported stall was first seen */
    /* fields of the scheduler's thread */
    struct co_notify notify;
    struct held held;
    char where[CO_TRACE_MAX * 64]; /* for a log line: coroutine stacks are small */
};

/* The entry of the thread, for its signal handler, which has no argument. */
static _Thread_local struct watched *_Atomic own;
static _Thread_local unsigned long count;

/* One thread checks all schedulers of the process. */
static struct {
    pthread_mutex_t lock;
    pthread_t thread;
    pthread_cond_t wake; /* uses the monotonic clock; initialized while it is running */
    bool stopping, roused, running;
    struct watched *first;
    _Atomic co_usec limit;
} dog = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int watch_signal(void)
{
    return SIGRTMIN + 4;
}

static void copy(char *to, const char *from, size_t size)
{
    size_t n = 0;

    while (n + 1 < size && from[n]) {
        to[n] = from[n];
        n++;
    }
    to[n] = '\0';
}

static void on_signal(int sig, siginfo_t *info, void *ucontext)
{
    struct watched *w = atomic_load(&own);

    (void)sig;
    (void)info;
    if (!w || w->held.full || st_in_idle)
        return;
    copy(w->held.name, co_name(), sizeof(w->held.name));
    copy(w->held.cid, co_cid(), sizeof(w->held.cid));
    w->held.depth = co_trace_from(ucontext, w->held.pc, CO_TRACE_MAX);
    w->held.full = true;
    co_notify_raise(&w->notify);
}

/* ---- the watchdog thread; functions with the prefix "dog_" are called with the lock held */

static bool dog_all_quiet(void)
{
    for (const struct watched *w = dog.first; w; w = w->next) {
        if (!co_sched_stats_quiet(&w->stats) || !co_sched_stats_idle(&w->stats))
            return false;
    }
    return true;
}

/* Waits until the next check, which is far away while all schedulers are quiet, or until one is
 * roused. Returns false to stop. */
static bool dog_wait(void)
{
    struct timespec until;
    int rc = 0, ms = dog_all_quiet() ? QUIET_MS : CHECK_MS;

    (void)clock_gettime(CLOCK_MONOTONIC, &until); /* the wall clock may be set back by a year */
    until.tv_nsec += ms % 1000 * 1000000L;
    until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    dog.roused = false;
    while (!dog.stopping && !(dog.roused && ms == QUIET_MS) && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&dog.wake, &dog.lock, &until);
    return !dog.stopping;
}

static void dog_begin(struct watched *w, co_usec now)
{
    w->seen = co_sched_stats_polls(&w->stats);
    w->began = now;
    w->began_cpu = clock_us(w->cpu);
    w->signalled = false;
}

static void dog_check(struct watched *w, co_usec now, bool late)
{
    co_usec limit = atomic_load(&dog.limit);

    if (co_sched_stats_polls(&w->stats) != w->seen || co_sched_stats_idle(&w->stats) || late) {
        /* it polled; or we were not run ourselves, so nothing is known */
        dog_begin(w, now);
    } else if (!w->signalled && limit > 0 && now - w->began >= limit) {
        atomic_store(&w->since, w->began);
        atomic_store(&w->since_cpu, w->began_cpu);
        (void)pthread_kill(w->thread, watch_signal());
        w->signalled = true;
    }
}

static void *dog_main(void *unused)
{
    co_usec last = co_clock();

    (void)unused;
    (void)pthread_mutex_lock(&dog.lock);
    while (dog_wait()) {
        co_usec now = co_clock();

        for (struct watched *w = dog.first; w; w = w->next)
            dog_check(w, now, now - last > CO_MS(LATE_MS));
        last = now;
    }
    (void)pthread_mutex_unlock(&dog.lock);
    return NULL;
}

static void rouse(void)
{
    (void)pthread_mutex_lock(&dog.lock);
    dog.roused = true;
    if (dog.running)
        (void)pthread_cond_signal(&dog.wake);
    (void)pthread_mutex_unlock(&dog.lock);
}

static err_t start_thread(void)
{
    pthread_attr_t attr;
    sigset_t all, old;
    int failed;

    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, THREAD_STACK);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    failed = pthread_create(&dog.thread, &attr, dog_main, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void)pthread_attr_destroy(&attr);
    errno = failed;
    return failed ? err_sys(ERR_SYSTEM, "start the watchdog") : NULL;
}

static void init_wake(void)
{
    pthread_condattr_t attr;

    (void)pthread_condattr_init(&attr);
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&dog.wake, &attr);
    (void)pthread_condattr_destroy(&attr);
}

err_t co_watchdog_start(co_usec limit)
{
    struct sigaction act = { .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
    err_t err;

    co_trace_init();
    atomic_store(&dog.limit, limit);
    act.sa_sigaction = on_signal;
    (void)sigemptyset(&act.sa_mask);
    (void)sigaction(watch_signal(), &act, NULL);
    err = co_watchdog_join();
    if (err)
        return err;
    init_wake();
    (void)pthread_mutex_lock(&dog.lock);
    dog.stopping = false;
    err = start_thread();
    dog.running = !err;
    (void)pthread_mutex_unlock(&dog.lock);
    if (err)
        co_watchdog_leave();
    return err;
}

void co_watchdog_set(co_usec limit)
{
    atomic_store(&dog.limit, limit);
}

/* ---- a watched thread */

err_t co_watchdog_join(void)
{
    struct watched *w = must(calloc(1, sizeof(*w)));
    err_t err = co_notify_open(&w->notify);
    sigset_t set;

    if (err) {
        free(w);
        return err;
    }
    w->thread = pthread_self();
    (void)pthread_getcpuclockid(w->thread, &w->cpu);
    co_sched_stats(&w->stats);
    dog_begin(w, co_clock());
    atomic_store(&own, w);
    (void)sigemptyset(&set);
    (void)sigaddset(&set, watch_signal());
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    ticker_on_rouse(rouse);
    (void)pthread_mutex_lock(&dog.lock);
    w->next = dog.first;
    dog.first = w;
    (void)pthread_mutex_unlock(&dog.lock);
    return NULL;
}

void co_watchdog_leave(void)
{
    struct watched *w = atomic_load(&own);

    if (!w)
        return;
    ticker_on_rouse(NULL);
    (void)pthread_mutex_lock(&dog.lock);
    LIST_CUT(&dog.first, w);
    (void)pthread_mutex_unlock(&dog.lock);
    atomic_store(&own, NULL); /* a signal may be on its way */
    co_notify_close(&w->notify);
    free(w);
}

static void log_stall(struct watched *w)
{
    co_usec ms = us_to_ms(co_clock() - atomic_load(&w->since));
    co_usec cpu = us_to_ms(clock_us(w->cpu) - atomic_load(&w->since_cpu));
    const struct held *h = &w->held;
    char worker[24] = "";

    if (co_schedulers() > 1)
        (void)snprintf(worker, sizeof(worker), "worker %d: ", co_number());
    (void)co_trace_text(h->pc, h->depth, w->where, sizeof(w->where));
    log_warn("watchdog: %scoroutine %s [%s] held the thread for %lld ms (cpu %lld ms), at %s",
             worker, *h->name ? h->name : "scheduler", h->cid, (long long)ms, (long long)cpu,
             w->where);
    count++;
}

err_t co_watchdog_run(void *unused)
{
    struct watched *w = atomic_load(&own);

    (void)unused;
    for (;;) {
        err_t err = co_check();

        if (err)
            return err;
        if (co_notify_wait(&w->notify, CO_FOREVER) == CO_WOKEN && w->held.full) {
            log_stall(w);
            w->held.full = false;
        }
    }
}

void co_watchdog_stop(void)
{
    bool running;

    (void)pthread_mutex_lock(&dog.lock);
    running = dog.running;
    dog.running = false;
    dog.stopping = true;
    if (running)
        (void)pthread_cond_signal(&dog.wake);
    (void)pthread_mutex_unlock(&dog.lock);
    if (running) {
        (void)pthread_join(dog.thread, NULL);
        (void)signal(watch_signal(), SIG_IGN); /* a signal may be on its way */
        (void)pthread_cond_destroy(&dog.wake);
    }
    co_watchdog_leave();
}

unsigned long co_watchdog_count(void)
{
    return count;
}
