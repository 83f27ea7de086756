/* SPDX-License-Identifier: MIT */
/* daemon.h - runs the process in the background and reports the result of the start. */
#ifndef APP_OS_DAEMON_H
#define APP_OS_DAEMON_H

#include "base/err.h"

/* Ensures that descriptors 0, 1 and 2 are open, so that no other file gets one of these numbers and
 * receives terminal output. Call it first. */
void  daemon_keep_stdio(void);

/* Forks twice and returns only in the daemon. The process that the user started waits for
 * daemon_ready(), or for the death of the daemon, and exits with that code. stderr stays open until
 * then, so that the user sees errors of the start. Call it before any thread is created. */
err_t daemon_fork(void) __attribute__((warn_unused_result));
/* Reports the end of the start: 0, or the exit code of its failure. Does nothing without
 * daemon_fork(). */
void  daemon_ready(int code);

#endif
