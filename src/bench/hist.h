/* SPDX-License-Identifier: MIT */
/* hist.h - a histogram of times: 32 steps in each power of two, so a percentile is right within
 * 3 %, from 1 µs to 25 days, in 5 KB whatever is counted. Least and most are exact. */
#ifndef BENCH_HIST_H
#define BENCH_HIST_H

#include <stdint.h>

enum { BENCH_HIST_STEPS = 32, BENCH_HIST_OCTAVES = 37 };

struct bench_hist {
    uint64_t count, min, max;
    double sum;
    uint32_t n[BENCH_HIST_OCTAVES * BENCH_HIST_STEPS];
};

void bench_hist_add(struct bench_hist *h, int64_t value); /* below 0 counts as 0 */
/* The value that `part` (0 to 1) of all are at or below; 0 when nothing was counted. */
uint64_t bench_hist_at(const struct bench_hist *h, double part);
double bench_hist_mean(const struct bench_hist *h);

#endif
