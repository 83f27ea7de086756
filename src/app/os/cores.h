/* SPDX-License-Identifier: MIT */
/* cores.h - the cores that the process may use, and how workers are put on them. Any thread may
 * ask. */
#ifndef APP_OS_CORES_H
#define APP_OS_CORES_H

#include "conf/conf.h"

#include <sched.h>

/* How many cores there are for us: those that the process may run on, or less where control groups
 * give less time. At least 1. `root` is where /proc and /sys are, "" but in tests. */
int cores_count(const char *root);
/* How many workers a configuration asks for: 1 to CONF_WORKERS_MAX. */
int cores_workers(const struct conf *c);
/* Where worker i is to run, as worker_cpu_affinity says. False: wherever the system likes. */
bool cores_of_worker(const struct conf *c, unsigned i, cpu_set_t *out);
/* The thread that calls is that worker's: it runs there from now on, or a line of the log says why
 * not. */
void cores_pin(const struct conf *c, unsigned worker);

#endif
