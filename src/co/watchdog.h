/* SPDX-License-Identifier: MIT */
/* watchdog.h - reports which coroutine kept its thread for too long, and where it was.
 *
 * A separate thread checks twenty times a second whether the schedulers have polled for events,
 * once a second while all are quiet (co_rouse). It costs the coroutines nothing. When a scheduler
 * has not polled for longer than the limit, a signal makes its thread record its stack; the line
 * is logged when the coroutine has yielded:
 *
 *   watchdog: coroutine play [k3x9q2aa] held the thread for 153 ms (cpu 151 ms), at f+0x2 < g+0x9
 *
 * With several schedulers it begins "watchdog: worker 2: coroutine ...", with the number.
 *
 * cpu distinguishes a busy loop (almost the whole time) from a call that blocked or a machine that
 * did not run us (almost nothing). The reported time is at most 50 ms less than the real one.
 */
#ifndef CO_WATCHDOG_H
#define CO_WATCHDOG_H

#include "base/err.h"
#include "co/co.h"

/* Starts the watchdog for the scheduler of the calling thread and all that join. */
err_t co_watchdog_start(co_usec limit) __attribute__((warn_unused_result));
/* Changes the limit for all; 0 turns it off. Any thread. */
void  co_watchdog_set(co_usec limit);
/* Stops the watchdog and leaves it. Does nothing if it was not started. Others may leave later. */
void  co_watchdog_stop(void);

/* Adds or removes the scheduler of the calling thread, after the watchdog was started. */
err_t co_watchdog_join(void) __attribute__((warn_unused_result));
void  co_watchdog_leave(void);

/* Writes the log lines; a coroutine (co_fn) on each of those threads, from the start or join until
 * before it leaves. */
err_t co_watchdog_run(void *unused);
/* Number of lines so far on the calling thread, for the statistics. */
unsigned long co_watchdog_count(void);

#endif
