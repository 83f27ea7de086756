/* SPDX-License-Identifier: MIT */
/* profile_timer.h - interrupt those threads that run coroutines by SIGPROF, for the CPU profilers.
 *
 * They bring a timer of their own that counts CPU time, but the kernel looks at such a timer only
 * at its clock ticks, and a server works between them: it is woken by one, works for less than the
 * time to the next, and sleeps. Of a server at 5% of a core that timer saw one sample in ten. So a
 * thread that sleeps by the precise clock asks instead, each whose scheduler is not idle. */
#ifndef APP_DEV_PROFILE_TIMER_H
#define APP_DEV_PROFILE_TIMER_H

#include <stdbool.h>

/* So often a second, from the thread to interrupt, after the profiler has set its handler. It goes
 * on to the end of the process, or to profile_timer_stop(). False: there can be no thread. */
bool profile_timer_start(int hz);
void profile_timer_stop(void);
/* One more thread; nothing happens if it was not started. */
void profile_timer_join(void);
void profile_timer_leave(void);

#endif
