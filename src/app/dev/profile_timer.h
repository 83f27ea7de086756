/* SPDX-License-Identifier: MIT */
/* profile_timer.h - samples threads that run coroutines by SIGPROF, for CPU profilers.
 *
 * Profilers have their own timer that counts CPU time, but the kernel checks such a timer only at
 * its clock ticks. A server wakes at a tick, works for less than the time to the next, and sleeps,
 * so at 5% of a core that timer missed nine of ten samples. Instead a thread with a precise clock
 * interrupts each thread whose scheduler is not idle. */
#ifndef APP_DEV_PROFILE_TIMER_H
#define APP_DEV_PROFILE_TIMER_H

#include <stdbool.h>

/* Samples the calling thread `hz` times a second, until profile_timer_stop() or the end of the
 * process. Call it after the profiler has set its handler. Returns false if the sampling thread
 * cannot start. */
bool profile_timer_start(int hz);
void profile_timer_stop(void);
/* Adds and removes the calling thread; does nothing if sampling was not started. */
void profile_timer_join(void);
void profile_timer_leave(void);

#endif
