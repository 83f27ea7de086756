/* SPDX-License-Identifier: MIT */
/* stat_line.h - the log line about the process, every five seconds:
 *
 *   Hybrid cpu=1.20%,38MB, conns=103,1,101,1, streams=1, sched=2840/s, co=110, clock=0,2,240,..,0
 *
 * conns: all, publishers, players, forwards. sched: coroutine switches. co: coroutines. held: lines
 * of the watchdog. holds: scheduler stalls of over 5 ms of CPU time. clock: number of 20 ms ticks
 * that took at most 15,20,25,30,35,40,80 and more ms; weight on the right means that the thread is
 * too busy. Groups without changes are omitted.
 *
 * With several workers it shows their sum, and each worker has a line, too:
 *
 *   Worker 2 cpu=12.40%, conns=103,1,101,1, streams=3,1, moved=2,5, sched=2840/s, co=110,
 *   late=0.12ms,0
 *
 * cpu: percent of its core. streams: all, and replicas of other workers' streams. moved: sessions
 * that moved here from other workers, and to them. late: mean lateness of the 20 ms ticks, and how
 * many were more than 20 ms late. silent: time since it last published counters, if that is too
 * long because its thread is stalled.
 */
#ifndef APP_OS_STAT_LINE_H
#define APP_OS_STAT_LINE_H

#include "app/worker_counters.h"
#include "co/co.h"

/* Writes the line about the process for the time between two sums and returns its length. cpu is in
 * percent of a core. */
size_t stat_process_text(const struct worker_counters *now, const struct worker_counters *then,
                         co_usec span, double cpu, uint64_t rss_kbyte, char *buf, size_t size);
/* Writes the line about a worker for the time between two samples; `at` is the time of the line. */
size_t stat_worker_text(unsigned worker, const struct worker_counters *now,
                        const struct worker_counters *then, co_usec at, char *buf, size_t size);

#endif
