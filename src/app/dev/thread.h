/* SPDX-License-Identifier: MIT */
/* thread.h - one more thread that runs coroutines: what looks after such threads learns of it.
 *
 * Crash lines, the watchdog, counts of holds, profilers, memory that goes back to the system, and
 * the names that the system and debuggers show. The first thread of the process has it by itself.
 */
#ifndef APP_DEV_THREAD_H
#define APP_DEV_THREAD_H

#include "co/co.h"

/* On the thread of this worker, after co_init(). What runs there for it goes to g, which begins
 * here. */
void thread_begin(struct co_group *g, unsigned worker);
void thread_end(struct co_group *g); /* before co_fini(). Yields */

#endif
