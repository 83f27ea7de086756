/* SPDX-License-Identifier: MIT */
/* stat_proc.h - the line about the process that comes every five seconds:
 *
 *   Hybrid cpu=1.20%,38MB, conns=103,1,101,1, streams=1, sched=2840/s, co=110, clock=0,..,0,4s
 *
 * conns: all, publishers, players, forwards. sched: switches between coroutines. co: coroutines.
 * clock: how many of the 20 ms ticks came within 15,20,25,30,35,40,80 and more ms, over how many
 * seconds: weight on the right is a thread that is too busy. Groups without news are left out.
 */
#ifndef APP_STAT_PROC_H
#define APP_STAT_PROC_H

#include "app/server.h"
#include "base/err.h"
#include "co/co.h"

#include <stddef.h>
#include <stdint.h>

/* All that one line tells; differences since the line before. */
struct stat_proc {
    double cpu; /* percent of one core */
    long rss;   /* bytes */
    struct server_stat server;
    unsigned long switches; /* per second */
    long coroutines;
    unsigned long held; /* lines of the watchdog */
    struct co_clock_stat clock;
};

/* Write the line, give its length. */
size_t stat_proc_text(const struct stat_proc *s, char *buf, size_t size);

/* A coroutine: a line every five seconds. arg is the struct server. */
err_t stat_proc_run(void *arg);

#endif
