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

#include "app/server.h"
#include "co/co.h"

#include <stddef.h>

/* All that one line tells; counts are those since the line before. */
struct stat_line {
    double cpu; /* percent of one core */
    long rss;   /* bytes */
    struct server_stat server;
    unsigned long switches; /* per second */
    long coroutines;
    unsigned long held, holds;
    struct co_clock_stat clock;
};

/* The same of a worker. */
struct stat_worker {
    unsigned worker;
    double cpu;
    struct server_stat server;
    unsigned replicas;
    unsigned long moved_in, moved_out;
    unsigned long switches;
    long coroutines;
    unsigned long held, holds;
    double late;            /* milliseconds */
    unsigned long very_late;
    co_usec silent;         /* 0: it has counted lately */
};

/* Write the line, give its length. */
size_t stat_worker_text(const struct stat_worker *s, char *buf, size_t size);
size_t stat_line_text(const struct stat_line *s, char *buf, size_t size);

#endif
