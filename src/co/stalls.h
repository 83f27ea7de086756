/* SPDX-License-Identifier: MIT */
/* stalls.h - counts how often a coroutine kept the thread for over 5 ms of processor time.
 *
 * Exact to the coroutine, where the watchdog sees what lasts for long: the scheduler looks at the
 * clock once a switch anyway. Only when that says 5 ms or more is the processor time asked for, and
 * time that the thread was not run, because others had the processor, does not count.
 */
#ifndef CO_STALLS_H
#define CO_STALLS_H

#include "co/co.h"

enum { CO_STALLS_NAMES = 16 };

struct co_stalls {
    const char *name; /* of the coroutine; the last one is all those that have no place here */
    unsigned long count;
    co_usec longest;
};

/* Count from now on, on the thread that runs the coroutines. One a second at most is told in a
 * line of the log. */
void co_stalls_start(void);
void co_stalls_stop(void);
/* The coroutine that calls will not switch any more by its own name: as if it let go now. */
void co_stalls_end(void);
/* By name, as they came; gives how many names. */
size_t co_stalls_list(const struct co_stalls **out);
unsigned long co_stalls_count(void);

#endif
