/* SPDX-License-Identifier: MIT */
/* watchdog.h - tells which coroutine kept the thread for too long, and where it was.
 *
 * A thread of its own looks twenty times a second whether the scheduler switched, once a second
 * while it is quiet (co_rouse). It costs the coroutines nothing. When one keeps the thread
 * longer than the limit, the coroutine thread is asked by a signal where it is; the line comes
 * when the coroutine has let go:
 *
 *   watchdog: coroutine play [k3x9q2aa] held the thread for 153 ms (cpu 151 ms), at f+0x2 < g+0x9
 *
 * cpu tells a busy loop (near the whole time) from a call that blocked or a machine that had no
 * time for us (near nothing). The time said is never more than it was, and at most 50 ms less.
 */
#ifndef CO_WATCHDOG_H
#define CO_WATCHDOG_H

#include "base/err.h"
#include "co/co.h"

/* Start looking at the calling thread, the one that runs the coroutines. */
err_t co_watchdog_start(co_usec limit) __attribute__((warn_unused_result));
/* Another limit from now on; 0: do not look. */
void  co_watchdog_set(co_usec limit);
/* Writes the lines; a coroutine (co_fn) to start beside the others after co_watchdog_start(). */
err_t co_watchdog_run(void *unused);
/* End the thread. After co_watchdog_run() has ended. Nothing happens if it was not started. */
void  co_watchdog_stop(void);
/* Lines so far, for the statistics. */
unsigned long co_watchdog_count(void);

#endif
