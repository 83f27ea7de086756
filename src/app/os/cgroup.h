/* SPDX-License-Identifier: MIT */
/* cgroup.h - the control groups that this process is in, of version 1 and 2.
 *
 * A limit of any group above counts too, so whoever looks for one walks up to the top. Any thread
 * may.
 */
#ifndef APP_OS_CGROUP_H
#define APP_OS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

/* A group's folder, which need not be there; `old` is version 1, whose files have other names. */
typedef void cgroup_fn(void *arg, const char *folder, bool old);

/* Show the groups of the process that bound `what` ("memory", "cpu"), each before the one above.
 * Some may be shown twice. `root` is where /proc and /sys are, "" but in tests. */
void cgroup_walk(const char *root, const char *what, cgroup_fn *fn, void *arg);

/* The number that a file of a group begins with; *next, where not NULL, is the one behind it.
 * 0: there is none, or it is "max". */
int64_t cgroup_number(const char *folder, const char *file, int64_t *next);
/* The bytes that a group may have; 0: no limit. */
int64_t cgroup_memory(const char *folder, bool old);
/* The cores that the groups of the process give it time for, say 1.5; 0: no limit. */
double cgroup_cores(const char *root);

#endif
