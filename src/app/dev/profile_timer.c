/* SPDX-License-Identifier: MIT */
/* profile_timer.c - samples threads that run coroutines by SIGPROF, for CPU profilers. */
#include "app/dev/profile_timer.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>

#include "co/sched_stats.h"

enum { THREAD_STACK = 256 * 1024 };

/* Static, because a process is profiled as a whole. */
static atomic_bool stopped = true;
static struct timespec period;

struct profiled {
    struct profiled *next;
    pthread_t thread;
    struct co_sched_stats pulse;
};
static struct profiled *all;
static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local struct profiled own;

static void *tick(void *unused)
{
    (void)unused;
    while (!atomic_load(&stopped)) {
        (void)nanosleep(&period, NULL);
        (void)pthread_mutex_lock(&all_lock);
        for (const struct profiled *p = all; p; p = p->next) {
            if (!co_sched_stats_idle(&p->pulse))
                (void)pthread_kill(p->thread, SIGPROF);
        }
        (void)pthread_mutex_unlock(&all_lock);
    }
    return NULL;
}

void profile_timer_join(void)
{
    sigset_t set;

    if (atomic_load(&stopped))
        return;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPROF);
    (void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    own.thread = pthread_self();
    co_sched_stats(&own.pulse);
    (void)pthread_mutex_lock(&all_lock);
    own.next = all;
    all = &own;
    (void)pthread_mutex_unlock(&all_lock);
}

void profile_timer_leave(void)
{
    (void)pthread_mutex_lock(&all_lock);
    for (struct profiled **at = &all; *at; at = &(*at)->next) {
        if (*at == &own) {
            *at = own.next;
            break;
        }
    }
    (void)pthread_mutex_unlock(&all_lock);
}

bool profile_timer_start(int hz)
{
    const struct itimerval none = { 0 };
    pthread_attr_t attr;
    sigset_t blocked, old;
    pthread_t id;
    int failed;

    atomic_store(&stopped, false);
    profile_timer_join();
    period.tv_nsec = 1000000000 / hz;
    (void)pthread_attr_init(&attr);
    (void)pthread_attr_setstacksize(&attr, THREAD_STACK);
    (void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    (void)sigfillset(&blocked);
    (void)pthread_sigmask(SIG_SETMASK, &blocked, &old);
    failed = pthread_create(&id, &attr, tick, NULL);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    (void)pthread_attr_destroy(&attr);
    if (!failed)
        (void)setitimer(ITIMER_PROF, &none, NULL); /* stops the profiler's own timer */
    return !failed;
}

void profile_timer_stop(void)
{
    atomic_store(&stopped, true);
}
