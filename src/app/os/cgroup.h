/* SPDX-License-Identifier: MIT */
/* cgroup.h - the control groups of this process, version 1 and 2.
 *
 * The limits of all parent groups apply too, so functions walk up to the root. Any thread may call
 * them.
 */
#ifndef APP_OS_CGROUP_H
#define APP_OS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

/* Called with a group's folder, which may not exist; `old` is version 1 with other file names. */
typedef void cgroup_fn(void *arg, const char *folder, bool old);

/* Visits the groups of the process that limit `what` ("memory", "cpu"), children before parents,
 * some possibly twice. `root` is the prefix of /proc and /sys, "" except in tests. */
void cgroup_walk(const char *root, const char *what, cgroup_fn *fn, void *arg);

/* Returns the first number in a file of a group, and in *next (unless NULL) the second. Returns 0
 * if there is none or if it is "max". */
int64_t cgroup_number(const char *folder, const char *file, int64_t *next);
/* Returns the memory limit of a group in bytes; 0: no limit. */
int64_t cgroup_memory(const char *folder, bool old);
/* Returns the CPU limit of the process in cores, such as 1.5; 0: no limit. */
double cgroup_cores(const char *root);

#endif
