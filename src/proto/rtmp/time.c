/* SPDX-License-Identifier: MIT */
/* time.c - converts RTMP's 32-bit milliseconds to a time that does not wrap. */
#include "proto/rtmp/time.h"

/* A peer whose messages each jump by weeks would overflow 64 bits; beyond this limit its time
 * restarts. */
#define LIMIT ((int64_t)1 << 46)

int64_t rtmp_time_peek(const struct rtmp_time *t, uint32_t ms)
{
    return t->begun ? t->unwrapped + (int32_t)(ms - t->last) : (int64_t)ms;
}

int64_t rtmp_time_next(struct rtmp_time *t, uint32_t ms)
{
    int64_t time = rtmp_time_peek(t, ms);

    if (time > LIMIT || time < -LIMIT)
        time = ms;
    *t = (struct rtmp_time){ .begun = true, .last = ms, .unwrapped = time };
    return time;
}
