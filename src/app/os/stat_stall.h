/* SPDX-License-Identifier: MIT */
/* stat_stall.h - logs stalled workers, which neither read their mailbox nor publish counters.
 *
 * Clients of a stalled worker wait, and so do other workers that need it. It logs one line after a
 * second, and another one when the worker continues:
 *
 *   [WARN] worker 2 has been stalled for 1204 ms: it reads no messages, its clients wait. A
 *   watchdog line names the coroutine; without one it gets no CPU time
 *   [WARN] worker 2 continues after 3120 ms
 */
#ifndef APP_OS_STAT_STALL_H
#define APP_OS_STAT_STALL_H

#include "co/co.h"

/* State of one worker; initially zero. */
struct stat_stall {
    co_usec since; /* start of the logged stall; 0: none was logged */
};

/* Call it with the current lateness of the worker; 0 if it is not late. */
void stat_stall_check(struct stat_stall *h, unsigned worker, co_usec late, co_usec now);

/* A coroutine (co_fn) of the first worker; `server` is a struct server with several workers. */
err_t stat_stall_run(void *server);

#endif
