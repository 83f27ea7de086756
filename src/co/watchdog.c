/* SPDX-License-Identifier: MIT */
/* watchdog.c - a thread that looks whether the coroutine thread still switches. */
#include "co/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <st.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/log.h"
#include "co/notify.h"
#include "co/pulse.h"
#include "co/ticker.h"
#include "co/trace.h"

enum { LOOK_MS = 50, QUIET_MS = 1000, LATE_MS = 500 };
enum { NAME_SIZE = 32, CID_SIZE = 16, THREAD_STACK = 256 * 1024 };

/* Who had it, filled by the signal handler on the coroutine thread when `asked`, read by the
 * coroutine that logs: both on one thread. */
struct held {
    bool full;
    char name[NAME_SIZE], cid[CID_SIZE];
    uintptr_t pc[CO_TRACE_MAX];
    int depth;
};

/* One scheduler of the process has the watchdog, and a signal handler has no argument. */
static struct {
    pthread_t watched, looker;
    clockid_t watched_cpu;
    struct co_pulse pulse; /* of the scheduler of `watched` */
    pthread_mutex_t lock;
    pthread_cond_t wake;  /* by the monotonic clock */
    bool stopping, roused, running;
    _Atomic co_usec limit;
    _Atomic co_usec since, since_cpu; /* when the hold that is asked about was seen first */
    struct co_notify notify;
    struct held held;
    char where[CO_TRACE_MAX * 64]; /* for a line of the log: the stacks of coroutines are small */
    unsigned long count;
} dog;

static int ask_signal(void)
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

static void on_ask(int sig, siginfo_t *info, void *ucontext)
{
    struct held *h = &dog.held;

    (void)sig;
    (void)info;
    if (h->full || st_in_idle)
        return;
    copy(h->name, co_name(), sizeof(h->name));
    copy(h->cid, co_cid(), sizeof(h->cid));
    h->depth = co_trace_from(ucontext, h->pc, CO_TRACE_MAX);
    h->full = true;
    co_notify_raise(&dog.notify);
}

/* Wait until the next look; it is far while nobody is served, until somebody comes. False: stop
 * looking. */
static bool next_look(void)
{
    struct timespec until;
    int rc = 0, ms;
    bool look;

    (void)clock_gettime(CLOCK_MONOTONIC, &until); /* the wall clock may be set back by a year */
    (void)pthread_mutex_lock(&dog.lock);
    ms = co_pulse_quiet(&dog.pulse) && co_pulse_idle(&dog.pulse) ? QUIET_MS : LOOK_MS;
    until.tv_nsec += ms % 1000 * 1000000L;
    until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    dog.roused = false;
    while (!dog.stopping && !(dog.roused && ms == QUIET_MS) && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&dog.wake, &dog.lock, &until);
    look = !dog.stopping;
    (void)pthread_mutex_unlock(&dog.lock);
    return look;
}

static void rouse(void)
{
    (void)pthread_mutex_lock(&dog.lock);
    dog.roused = true;
    (void)pthread_cond_signal(&dog.wake);
    (void)pthread_mutex_unlock(&dog.lock);
}

static void *look(void *unused)
{
    unsigned long seen = co_pulse_switches(&dog.pulse);
    co_usec since = co_clock(), since_cpu = clock_us(dog.watched_cpu), last = since;
    bool asked = false;

    (void)unused;
    while (next_look()) {
        co_usec now = co_clock(), limit = atomic_load(&dog.limit);
        unsigned long count = co_pulse_switches(&dog.pulse);

        if (count != seen || co_pulse_idle(&dog.pulse) || now - last > CO_MS(LATE_MS)) {
            /* it switched; or we were not run ourselves, so nothing can be said */
            seen = count;
            since = now;
            since_cpu = clock_us(dog.watched_cpu);
            asked = false;
        } else if (!asked && limit > 0 && now - since >= limit) {
            atomic_store(&dog.since, since);
            atomic_store(&dog.since_cpu, since_cpu);
            (void)pthread_kill(dog.watched, ask_signal());
            asked = true;
        }
        last = now;
    }
    return NULL;
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
    failed = pthread_create(&dog.looker, &attr, look, NULL);
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
    (void)pthread_mutex_init(&dog.lock, NULL);
    dog.stopping = false;
}

err_t co_watchdog_start(co_usec limit)
{
    struct sigaction act = { .sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK };
    err_t err;

    co_trace_init();
    dog.watched = pthread_self();
    co_pulse(&dog.pulse);
    (void)pthread_getcpuclockid(dog.watched, &dog.watched_cpu);
    atomic_store(&dog.limit, limit);
    dog.held.full = false;
    err = co_notify_open(&dog.notify);
    if (err)
        return err;
    act.sa_sigaction = on_ask;
    (void)sigemptyset(&act.sa_mask);
    (void)sigaction(ask_signal(), &act, NULL);
    init_wake();
    err = start_thread();
    dog.running = !err;
    if (err)
        co_notify_close(&dog.notify);
    else
        ticker_on_rouse(rouse);
    return err;
}

void co_watchdog_set(co_usec limit)
{
    atomic_store(&dog.limit, limit);
}

static void tell(void)
{
    co_usec ms = us_to_ms(co_clock() - atomic_load(&dog.since));
    co_usec cpu = us_to_ms(clock_us(dog.watched_cpu) - atomic_load(&dog.since_cpu));
    const struct held *h = &dog.held;

    (void)co_trace_text(h->pc, h->depth, dog.where, sizeof(dog.where));
    log_warn("watchdog: coroutine %s [%s] held the thread for %lld ms (cpu %lld ms), at %s",
             *h->name ? h->name : "of the scheduler", h->cid, (long long)ms, (long long)cpu,
             dog.where);
    dog.count++;
}

err_t co_watchdog_run(void *unused)
{
    (void)unused;
    for (;;) {
        err_t err = co_check();

        if (err)
            return err;
        if (co_notify_wait(&dog.notify, CO_FOREVER) == CO_WOKEN && dog.held.full) {
            tell();
            dog.held.full = false;
        }
    }
}

void co_watchdog_stop(void)
{
    if (!dog.running)
        return;
    dog.running = false;
    ticker_on_rouse(NULL);
    (void)pthread_mutex_lock(&dog.lock);
    dog.stopping = true;
    (void)pthread_cond_signal(&dog.wake);
    (void)pthread_mutex_unlock(&dog.lock);
    (void)pthread_join(dog.looker, NULL);
    (void)signal(ask_signal(), SIG_IGN); /* one may be on its way */
    (void)pthread_cond_destroy(&dog.wake);
    (void)pthread_mutex_destroy(&dog.lock);
    co_notify_close(&dog.notify);
}

unsigned long co_watchdog_count(void)
{
    return dog.count;
}
