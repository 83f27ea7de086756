/* SPDX-License-Identifier: MIT */
/* process.h - the life cycle of the process: start, reloads, quit. */
#ifndef APP_OS_PROCESS_H
#define APP_OS_PROCESS_H

#include "app/options.h"

/* Tests the configuration and prints the result to stderr; returns the exit code. */
int process_test(const struct options *o);
/* Serves until a signal to quit; returns the exit code. */
int process_run(const struct options *o);

#endif
