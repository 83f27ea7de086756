/* SPDX-License-Identifier: MIT */
/* memory.h - how much memory the streams and the messages of all clients may take together. */
#ifndef APP_OS_MEMORY_H
#define APP_OS_MEMORY_H

#include "session/env.h"

/* The least that the control groups of the process allow, of version 1 and 2; 0: no limit. `root`
 * is where /proc and /sys are, "" but in tests. */
int64_t memory_of_groups(const char *root);

/* As the configuration says, or as the machine has where it does not; with several workers this one
 * gets its part. */
void memory_apply(struct session_env *env);
/* Tell the other workers what this one takes, and set its part of the limits by what they take:
 * once a second, by each. With one worker nothing happens. */
void memory_share(struct session_env *env);

#endif
