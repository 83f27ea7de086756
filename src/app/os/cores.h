/* SPDX-License-Identifier: MIT */
/* cores.h - counts the available cores and pins workers to them. Any thread may call it. */
#ifndef APP_OS_CORES_H
#define APP_OS_CORES_H

#include "conf/conf.h"

#include <sched.h>

/* Returns the number of cores that the process may run on, or fewer if control groups limit its CPU
 * time; at least 1. `root` is the prefix of /proc and /sys, "" except in tests. */
int cores_count(const char *root);
/* Returns the number of workers of a configuration: 1 to CONF_WORKERS_MAX. */
int cores_workers(const struct conf *c);
/* Writes the cores for worker i by worker_cpu_affinity. Returns false if it is not pinned. */
bool cores_of_worker(const struct conf *c, unsigned i, cpu_set_t *out);
/* Pins the calling thread, which is that worker's, or logs why it cannot. */
void cores_pin(const struct conf *c, unsigned worker);

#endif
