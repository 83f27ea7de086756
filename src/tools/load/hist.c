/* SPDX-License-Identifier: MIT */
/* hist.c - a histogram of times. */
#include "tools/load/stat.h"

#include <stddef.h>

enum { LAST = LOAD_HIST_OCTAVES * LOAD_HIST_STEPS - 1 };

/* Values below 32 have a step each; from there on, the five bits after the highest one. */
static size_t step_of(uint64_t v)
{
    unsigned high;
    size_t at;

    if (v < LOAD_HIST_STEPS)
        return (size_t)v;
    high = 63u - (unsigned)__builtin_clzll(v);
    at = (high - 4) * LOAD_HIST_STEPS + (v >> (high - 5) & (LOAD_HIST_STEPS - 1));
    return at < LAST ? at : LAST;
}

/* The largest value of a step. */
static uint64_t top_of(size_t at)
{
    unsigned shift = (unsigned)(at / LOAD_HIST_STEPS);

    if (shift == 0)
        return at;
    return ((uint64_t)(LOAD_HIST_STEPS + at % LOAD_HIST_STEPS + 1) << (shift - 1)) - 1;
}

void load_hist_add(struct load_hist *h, int64_t value)
{
    uint64_t v = value > 0 ? (uint64_t)value : 0;

    h->min = h->count == 0 || v < h->min ? v : h->min;
    h->count++;
    h->sum += (double)v;
    h->max = v > h->max ? v : h->max;
    h->n[step_of(v)]++;
}

uint64_t load_hist_at(const struct load_hist *h, double part)
{
    uint64_t seen = 0, want = (uint64_t)(part * (double)h->count + 0.999999);

    if (want == 0)
        return h->min;
    for (size_t i = 0; i <= LAST; i++) {
        seen += h->n[i];
        if (seen >= want && seen > 0)
            return i < LAST && top_of(i) < h->max ? top_of(i) : h->max;
    }
    return 0;
}

double load_hist_mean(const struct load_hist *h)
{
    return h->count ? h->sum / (double)h->count : 0;
}
