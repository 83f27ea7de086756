/* SPDX-License-Identifier: MIT */
/* watch.h - look at media as they come: gaps, delay, order, what was lost. */
#ifndef BENCH_WATCH_H
#define BENCH_WATCH_H

#include "bench/run.h"

/* A message of audio or video, its first bytes or its end; arg is the struct bench_client. */
void bench_watch(void *arg, const struct bench_skim_msg *msg);
/* A small window, so that what is not read soon stands at the server. */
void bench_watch_slowly(struct bench_client *c);

#endif
