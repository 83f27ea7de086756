/* SPDX-License-Identifier: MIT */
/* stalls.h - counts scheduler stalls: coroutines that kept the thread for over 5 ms of processor
 * time.
 *
 * The watchdog reports only long stalls; this counts each one exactly: the scheduler reads the
 * clock at each switch anyway. Only if that shows 5 ms or more is the processor time read; time in
 * which the thread did not run, because others had the processor, does not count.
 */
#ifndef CO_STALLS_H
#define CO_STALLS_H

#include "co/co.h"

enum { CO_STALLS_NAMES = 16 };

struct co_stalls {
    const char *name; /* name of the coroutine; the last entry sums up all names without an entry */
    unsigned long count;
    co_usec longest;
};

/* Starts counting, on the thread that runs the coroutines. Logs at most one stall per second. */
void co_stalls_start(void);
void co_stalls_stop(void);
/* Ends the turn of the calling coroutine for the count: call it before its name becomes invalid. */
void co_stalls_end(void);
/* Returns the counts by name, in the order of first appearance, and the number of names. */
size_t co_stalls_list(const struct co_stalls **out);
unsigned long co_stalls_count(void);

#endif
