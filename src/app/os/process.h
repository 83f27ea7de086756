/* SPDX-License-Identifier: MIT */
/* process.h - the life of the program around the server: start, reloads, end. */
#ifndef APP_OS_PROCESS_H
#define APP_OS_PROCESS_H

#include "app/options.h"

/* Test the configuration, say on stderr how it is; gives the exit code. */
int process_test(const struct options *o);
/* Serve until told to quit; gives the exit code. */
int process_run(const struct options *o);

#endif
