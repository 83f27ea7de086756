/* SPDX-License-Identifier: MIT */
/* stat_stall.h - tells which worker is held up: it does not read what the others write to it, or
 * does not count what it has.
 *
 * Its clients wait, and so does who wants something of it. The line comes once, after a second, and
 * one more when it goes on:
 *
 *   [WARN] worker 2 is held up for 1204 ms: it reads no messages, its clients wait. A line of the
 *   watchdog says what holds it; without one it gets no processor
 *   [WARN] worker 2 goes on, after 3120 ms
 */
#ifndef APP_OS_STAT_STALL_H
#define APP_OS_STAT_STALL_H

#include "co/co.h"

/* Of one worker; begins zeroed. */
struct stat_stall {
    co_usec since; /* when it should have done something; 0: nothing was told */
};

/* What it should have done is late by so much, now; 0: nothing is. */
void stat_stall_check(struct stat_stall *h, unsigned worker, co_usec late, co_usec now);

/* A coroutine (co_fn) of the first worker. server: a struct server with several. */
err_t stat_stall_run(void *server);

#endif
