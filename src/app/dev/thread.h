/* SPDX-License-Identifier: MIT */
/* thread.h - registers another thread that runs coroutines with the tools that monitor them.
 *
 * These are the crash handler, the watchdog, the stall counters, profilers, the return of memory to
 * the system, and the thread's name. The first thread of the process registers itself.
 */
#ifndef APP_DEV_THREAD_H
#define APP_DEV_THREAD_H

#include "co/co.h"

/* Call it on the thread of this worker, after co_init(). It initializes g and starts helper
 * coroutines in it. */
void thread_begin(struct co_group *g, unsigned worker);
void thread_end(struct co_group *g); /* before co_fini(). Yields */

#endif
