/* SPDX-License-Identifier: MIT */
/* units.h - one unit of time in another, and clocks in microseconds. */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stdint.h>
#include <time.h>

/* Round towards zero. The result type suits log lines: %lld. */
static inline long long us_to_ms(int64_t us)
{
    return us / 1000;
}

static inline long long us_to_s(int64_t us)
{
    return us / 1000000;
}

static inline int64_t timespec_us(const struct timespec *t)
{
    return (int64_t)t->tv_sec * 1000000 + t->tv_nsec / 1000;
}

/* Reads a clock. Returns 0 if the clock does not exist. Any thread. */
static inline int64_t clock_us(clockid_t id)
{
    struct timespec t = { 0 };

    (void)clock_gettime(id, &t);
    return timespec_us(&t);
}

#endif
