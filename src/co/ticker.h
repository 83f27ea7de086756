/* SPDX-License-Identifier: MIT */
/* ticker.h - drives the timers; private to co/. */
#ifndef CO_TICKER_H
#define CO_TICKER_H

#include "base/err.h"
#include "co/co.h"

#include <stdatomic.h>

err_t ticker_start(void);
void ticker_end(void); /* also cancels all timers and tasks */
void  co_ticker_runs(void); /* marks the ticker as running: for logs, debuggers, the watchdog */
void ticker_on_rouse(void (*fn)(void)); /* called when the thread is no longer quiet; may be NULL */
const atomic_bool *ticker_quiet(void); /* for other threads, see co/sched_stats.h */
co_usec ticker_slice(void); /* how long a coroutine may keep the thread now, while others wait */

#endif
