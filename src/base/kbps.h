/* SPDX-License-Identifier: MIT */
/* kbps.h - how fast bytes go by: now, over the last 30 seconds, over the last 5 minutes.
 *
 * Fed with a running total of bytes and the time (microseconds, monotonic) whenever it suits the
 * caller: once a wake, or only when somebody wants to know. A window's rate is exact over the
 * span it covers, which is between half the window and the whole (less while it is young, more
 * when nobody fed it for longer than that).
 */
#ifndef BASE_KBPS_H
#define BASE_KBPS_H

#include <stdint.h>

struct kbps_mark {
    uint64_t bytes;
    int64_t time;
};

struct kbps {
    struct kbps_mark last;
    struct kbps_mark s30[2], m5[2]; /* where the rate is counted from, and what takes over */
    int now_kbps, s30_kbps, m5_kbps; /* kilobits per second, as of the last sample */
};

/* For lines of the log: printf("okbps=" KBPS_FMT, KBPS_ARGS(&k)). */
#define KBPS_FMT "%d,%d,%d"
#define KBPS_ARGS(k) (k)->now_kbps, (k)->s30_kbps, (k)->m5_kbps

void kbps_init(struct kbps *k, uint64_t bytes, int64_t now);
/* `bytes` is a total that only grows; if it shrinks (a new connection) the counting begins anew.
 * Samples less than a millisecond apart are one. */
void kbps_sample(struct kbps *k, uint64_t bytes, int64_t now);

#endif
