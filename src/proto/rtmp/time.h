/* SPDX-License-Identifier: MIT */
/* time.h - converts RTMP's 32-bit milliseconds, which wrap after 49 days [RTMP 5.3.1, 4], to a time
 * that does not wrap.
 */
#ifndef PROTO_RTMP_TIME_H
#define PROTO_RTMP_TIME_H

#include <stdbool.h>
#include <stdint.h>

struct rtmp_time { /* start zeroed; the first time is then used unchanged */
    bool begun;
    uint32_t last;
    int64_t unwrapped;
};

/* Returns the unwrapped time of a message: the value nearest to the previous message's time. */
int64_t rtmp_time_next(struct rtmp_time *t, uint32_t ms);
/* Same, but does not become the reference for the next message. For messages whose time often
 * differs from the stream's, such as a header with time 0. */
int64_t rtmp_time_peek(const struct rtmp_time *t, uint32_t ms);

#endif
