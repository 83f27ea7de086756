/* SPDX-License-Identifier: MIT */
/* signals.h - what the operator asks for by kill(1), told to a coroutine. */
#ifndef APP_OS_SIGNALS_H
#define APP_OS_SIGNALS_H

#include "base/err.h"
#include "co/co.h"

enum signals {
    SIGNALS_RELOAD = 1, /* HUP */
    SIGNALS_REOPEN = 2, /* USR1 */
    SIGNALS_TERM = 4,
    SIGNALS_INT = 8,
    SIGNALS_FAST = SIGNALS_TERM | SIGNALS_INT,
    SIGNALS_GRACE = 16, /* QUIT */
};

/* A peer that left is an error of the write, not the end of the program. First thing in it. */
void  signals_ignore_pipe(void);
/* Reloads and new logs that are asked for from now on wait for signals_init(): whoever finds the
 * pid file may ask before all of the start is done. */
void  signals_hold(void);
/* After co_init(). From here on these signals do nothing but wake signals_wait(). */
err_t signals_init(void) __attribute__((warn_unused_result));
void  signals_fini(void);
/* Wait for any of them; gives those that came since the last call, 0 after the timeout. Yields. */
unsigned signals_wait(co_usec timeout);
/* Wait for one of `mask` alone; others stay for signals_wait(). Yields. */
unsigned signals_wait_for(unsigned mask, co_usec timeout);

/* As if such a signal had come. */
void signals_raise(unsigned events);

/* End the process with a word in the log if it still lives so many seconds from now. */
void  signals_deadline(unsigned seconds);

#endif
