/* SPDX-License-Identifier: MIT */
/* signals.h - signals from the operator, passed to coroutines. */
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

/* Ignores SIGPIPE, so that writing to a closed connection is an error. Call it first. */
void  signals_ignore_pipe(void);
/* Holds back SIGHUP and SIGUSR1 until signals_init(), because scripts that find the pid file may
 * send them before the start is complete. */
void  signals_hold(void);
/* Installs handlers that only wake signals_wait(). Call it after co_init(). */
err_t signals_init(void) __attribute__((warn_unused_result));
void  signals_fini(void);
/* Waits for any signal; returns those since the last call, or 0 after the timeout. Yields. */
unsigned signals_wait(co_usec timeout);
/* Waits only for signals in `mask`; others stay for signals_wait(). Yields. */
unsigned signals_wait_for(unsigned mask, co_usec timeout);

/* Acts as if these signals had been received. */
void signals_raise(unsigned events);

/* Ends the process with a log line if it is still alive after this many seconds. */
void  signals_deadline(unsigned seconds);

#endif
