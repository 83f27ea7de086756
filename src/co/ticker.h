/* SPDX-License-Identifier: MIT */
/* ticker.h - what drives the timers; for co/ alone. */
#ifndef CO_TICKER_H
#define CO_TICKER_H

#include "base/err.h"
#include "co/co.h"

#include <stdatomic.h>

err_t ticker_start(void);
void ticker_end(void); /* with all timers and tasks */
void  co_ticker_runs(void); /* it is the ticker that runs now: for logs, debuggers, the watchdog */
void ticker_on_rouse(void (*fn)(void)); /* is told when the thread is quiet no more; NULL: nobody */
const atomic_bool *ticker_quiet(void); /* for other threads, see co/sched_stats.h */
co_usec ticker_slice(void); /* how long one may have the thread now, while others wait */

#endif
