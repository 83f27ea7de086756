/* SPDX-License-Identifier: MIT */
/* profile_timer.c - interrupt the coroutine thread by SIGPROF, for the CPU profilers. */
#include "app/dev/profile_timer.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

#include "co/pulse.h"

enum { THREAD_STACK = 256 * 1024 };

/* A process is profiled as a whole: there is one of these. */
static atomic_bool stopped;
static pthread_t profiled;
static struct timespec period;
static struct co_pulse pulse;

static void *tick(void *unused)
{
    (void)unused;
    while (!atomic_load(&stopped)) {
        (void)nanosleep(&period, NULL);
        if (!co_pulse_idle(&pulse))
            (void)pthread_kill(profiled, SIGPROF);
    }
    return NULL;
}

bool profile_timer_start(int hz)
{
    const struct itimerval none = { 0 };
    pthread_attr_t attr;
    sigset_t all, old;
    pthread_t id;
    int failed;

    profiled = pthread_self();
    co_pulse(&pulse);
    period.tv_nsec = 1000000000 / hz;
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, THREAD_STACK);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    failed = pthread_create(&id, &attr, tick, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void)pthread_attr_destroy(&attr);
    if (!failed)
        (void)setitimer(ITIMER_PROF, &none, NULL); /* the profiler's own */
    return !failed;
}

void profile_timer_stop(void)
{
    atomic_store(&stopped, true);
}
