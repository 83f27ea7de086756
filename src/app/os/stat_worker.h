/* SPDX-License-Identifier: MIT */
/* stat_worker.h - what the workers did between two lines of the log. */
#ifndef APP_OS_STAT_WORKER_H
#define APP_OS_STAT_WORKER_H

#include "app/figures.h"
#include "app/os/stat_line.h"

/* What a worker has counted so far, as of its last sample. */
struct stat_counts {
    co_usec at; /* of the sample; 0: none yet. For `last`: not before we began to look */
    struct server_stat server;
    unsigned replicas, coroutines;
    uint64_t cpu, switches, held, holds, moved_in, moved_out, late[9], late_sum;
};

void stat_counts_take(const struct figures_of *of, unsigned worker, struct stat_counts *out);

/* What is said of it in a line that is made `at`, when the one before said `last`; out->worker is
 * for who knows it. */
void stat_worker_between(const struct stat_counts *last, const struct stat_counts *now, co_usec at,
                         struct stat_worker *out);
/* All of them together are what the line of the process says: add one. */
void stat_worker_add(struct stat_line *to, const struct stat_counts *last,
                     const struct stat_counts *now);

#endif
