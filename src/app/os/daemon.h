/* SPDX-License-Identifier: MIT */
/* daemon.h - leave the terminal, but not before it is known how the start went. */
#ifndef APP_OS_DAEMON_H
#define APP_OS_DAEMON_H

#include "base/err.h"

/* Make sure that descriptors 0, 1 and 2 are open, so that no file of ours becomes one of them and
 * gets what is meant for a terminal. First thing in the program. */
void  daemon_keep_stdio(void);

/* Fork twice. Returns in the daemon alone; the process that the user started stays until
 * daemon_ready(), or until the daemon has died, and exits with that code. stderr stays open that
 * long, so errors of the start are seen. Before any thread is made. */
err_t daemon_fork(void) __attribute__((warn_unused_result));
/* The start is over: 0, or the exit code of its failure. Nothing happens without daemon_fork(). */
void  daemon_ready(int code);

#endif
