/* SPDX-License-Identifier: MIT */
/* time.h - from RTMP's 32 bits of milliseconds, which wrap after 49 days [RTMP 5.3.1, 4], to a time
 * that does not. */
#ifndef PROTO_RTMP_TIME_H
#define PROTO_RTMP_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct rtmp_time { /* zeroed: nothing came yet, and the first time is taken as it is */
    bool begun;
    uint32_t last;
    int64_t unwrapped;
};

/* The time of a message, taken as the nearest one to that of the message before it. */
int64_t rtmp_time_next(struct rtmp_time *t, uint32_t ms);
/* The same for a message whose time is often not that of the stream (a header stamped 0): what
 * follows is not measured by it. */
int64_t rtmp_time_aside(const struct rtmp_time *t, uint32_t ms);

#endif
