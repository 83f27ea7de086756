/* SPDX-License-Identifier: MIT */
/* watchdog.h - reports which coroutine kept its thread for too long, and where it was.
 *
 * A thread of its own checks twenty times a second whether the schedulers have looked for events,
 * once a second while all are quiet (co_rouse). It costs the coroutines nothing. When a scheduler
 * has not looked for longer than the limit, its thread is asked by a signal where it is; the line
 * comes when the coroutine has let go:
 *
 *   watchdog: coroutine play [k3x9q2aa] held the thread for 153 ms (cpu 151 ms), at f+0x2 < g+0x9
 *
 * and where the process has several schedulers, "watchdog: worker 2: coroutine ...", by number.
 *
 * cpu tells a busy loop (near the whole time) from a call that blocked or a machine that had no
 * time for us (near nothing). The time said is never more than it was, and at most 50 ms less.
 */
#ifndef CO_WATCHDOG_H
#define CO_WATCHDOG_H

#include "base/err.h"
#include "co/co.h"

/* Start to look, at the scheduler of the calling thread and at all that join. */
err_t co_watchdog_start(co_usec limit) __attribute__((warn_unused_result));
/* Another limit from now on, for all; 0: do not look. Any thread. */
void  co_watchdog_set(co_usec limit);
/* End the looking, and leave. Nothing happens if it was not started. Others may leave later. */
void  co_watchdog_stop(void);

/* Have the scheduler of one more thread looked at, once looking has started; no more. */
err_t co_watchdog_join(void) __attribute__((warn_unused_result));
void  co_watchdog_leave(void);

/* Writes the lines; a coroutine (co_fn) on each of those threads, from when it was started or
 * joined to before it leaves. */
err_t co_watchdog_run(void *unused);
/* Lines so far, of the thread that calls, for the statistics. */
unsigned long co_watchdog_count(void);

#endif
