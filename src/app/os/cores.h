/* SPDX-License-Identifier: MIT */
/* cores.h - the cores that the process may use, and how workers are put on them. Any thread may
 * ask. */
#ifndef APP_OS_CORES_H
#define APP_OS_CORES_H

#include "conf/conf.h"

#include <sched.h>

/* What the process was let run on when it first asked here: a worker that is put on a core
 * changes that for its thread, and for what this starts. Empty when the system does not say. */
const cpu_set_t *cores_allowed(void);
/* How many of them there is time for: control groups may give less. At least 1. `root` is where
 * /proc and /sys are, "" but in tests. */
int cores_count(const char *root);
/* How many workers a configuration asks for: 1 to CONF_WORKERS_MAX. */
int cores_workers(const struct conf *c);
/* Where worker i is to run, as worker_cpu_affinity says. False: wherever the system likes. */
bool cores_of_worker(const struct conf *c, unsigned i, cpu_set_t *out);

#endif
