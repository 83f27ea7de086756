/* SPDX-License-Identifier: MIT */
/* memory.h - memory limits for streams and for messages of all clients. */
#ifndef APP_OS_MEMORY_H
#define APP_OS_MEMORY_H

#include "session/env.h"

/* Returns the lowest memory limit of the process's control groups, version 1 and 2; 0: no limit.
 * `root` is the prefix of /proc and /sys, "" except in tests. */
int64_t memory_of_groups(const char *root);

/* Sets this worker's limits from the configuration, or from the machine's memory if it has none. */
void memory_apply(struct session_env *env);
/* Publishes this worker's usage and sets its share of the limits by the usage of the others. Each
 * worker calls it once a second. Does nothing with one worker. */
void memory_share(struct session_env *env);

#endif
