/* SPDX-License-Identifier: MIT */
/* stat_line.h - the line about the process that comes every five seconds:
 *
 *   Hybrid cpu=1.20%,38MB, conns=103,1,101,1, streams=1, sched=2840/s, co=110, clock=0,2,240,..,0
 *
 * conns: all, publishers, players, forwards. sched: switches between coroutines. co: coroutines.
 * held: lines of the watchdog. holds: of over 5 ms of processor time. clock: how many of the 20 ms
 * ticks came within 15,20,25,30,35,40,80 and more ms; weight on the right is a thread that is too
 * busy. Groups without news are left out.
 *
 * With more than one worker it sums up all of them, and each has a line beside it:
 *
 *   Worker 2 cpu=12.40%, conns=103,1,101,1, streams=3,1, moved=2,5, sched=2840/s, co=110,
 *   late=0.12ms,0
 *
 * cpu: of its core. streams: all that it has, and those of them whose publisher is elsewhere.
 * moved: sessions that came from other workers, and that went to them. late: of the 20 ms ticks in
 * the mean, and how many were over 20 ms late. silent: for how long it has not counted, where that
 * is too long: something holds its thread.
 */
#ifndef APP_OS_STAT_LINE_H
#define APP_OS_STAT_LINE_H

#include "app/worker_counters.h"
#include "co/co.h"

/* Write what the process did between two sums, and return the length. cpu: percent of a core. */
size_t stat_process_text(const struct worker_counters *now, const struct worker_counters *then,
                         co_usec span, double cpu, uint64_t rss_kbyte, char *buf, size_t size);
/* The same of a worker, between two of its samples, in a line that is made `at`. */
size_t stat_worker_text(unsigned worker, const struct worker_counters *now,
                        const struct worker_counters *then, co_usec at, char *buf, size_t size);

#endif
