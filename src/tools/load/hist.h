/* SPDX-License-Identifier: MIT */
/* hist.h - a histogram of times: 32 steps in each power of two, so a percentile is right within
 * 3 %, from 1 µs to 25 days, in 5 KB whatever is counted. Least and most are exact. */
#ifndef TOOLS_LOAD_HIST_H
#define TOOLS_LOAD_HIST_H

#include <stdint.h>

enum { LOAD_HIST_STEPS = 32, LOAD_HIST_OCTAVES = 37 };

struct load_hist {
    uint64_t count, min, max;
    double sum;
    uint32_t n[LOAD_HIST_OCTAVES * LOAD_HIST_STEPS];
};

void load_hist_add(struct load_hist *h, int64_t value); /* below 0 counts as 0 */
/* The value that `part` (0 to 1) of all are at or below; 0 when nothing was counted. */
uint64_t load_hist_at(const struct load_hist *h, double part);
double load_hist_mean(const struct load_hist *h);

#endif
