/* SPDX-License-Identifier: MIT */
/* stat_held.h - tells which worker is held up: it does not read what the others write to it, or
 * does not count what it has.
 *
 * Its clients wait, and so does who wants something of it. The line comes once, after a second, and
 * one more when it goes on:
 *
 *   [WARN] worker 2 is held up for 1204 ms: it reads no messages, its clients wait. A line of the
 *   watchdog says what holds it; without one it gets no processor
 *   [WARN] worker 2 goes on, after 3120 ms
 */
#ifndef APP_OS_STAT_HELD_H
#define APP_OS_STAT_HELD_H

#include "co/co.h"

/* Of one worker; begins zeroed. */
struct stat_held {
    co_usec since; /* when it should have done something; 0: nothing was told */
};

/* What it should have done is late by so much, now; 0: nothing is. */
void stat_held_look(struct stat_held *h, unsigned worker, co_usec late, co_usec now);

/* A coroutine (co_fn) of the first worker. server: a struct server with several. */
err_t stat_held_run(void *server);

#endif
