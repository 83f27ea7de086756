/* SPDX-License-Identifier: MIT */
/* kbps.h - byte rates: now, over the last 30 seconds, over the last 5 minutes.
 *
 * The caller provides a running total of bytes and the time (microseconds, monotonic) at any
 * interval, or only when a rate is needed. The rate of a window is exact for the span it covers,
 * which is between half the window and the whole window (shorter at first, longer after a long time
 * without samples).
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
    struct kbps_mark s30[2], m5[2]; /* start of the measured span, and its successor */
    int now_kbps, s30_kbps, m5_kbps; /* kilobits per second, as of the last sample */
};

/* For log lines: printf("okbps=" KBPS_FMT, KBPS_ARGS(&k)). */
#define KBPS_FMT "%d,%d,%d"
#define KBPS_ARGS(k) (k)->now_kbps, (k)->s30_kbps, (k)->m5_kbps

void kbps_init(struct kbps *k, uint64_t bytes, int64_t now);
/* Adds a sample. `bytes` is a total that grows; if it shrinks (a new connection), measuring starts
 * again. A sample less than a millisecond after the last one is ignored. */
void kbps_sample(struct kbps *k, uint64_t bytes, int64_t now);

#endif
