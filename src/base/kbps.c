/* SPDX-License-Identifier: MIT */
/* kbps.c - byte rates over several windows. */
#include "base/kbps.h"

#include <limits.h>

static const int64_t one_ms = 1000;
static const int64_t seconds_30 = INT64_C(30000000), minutes_5 = INT64_C(300000000);

static int rate(const struct kbps_mark *from, const struct kbps_mark *to)
{
    int64_t span = to->time - from->time;
    double kbit;

    if (span < one_ms)
        return 0;
    /* bits per microsecond are megabits per second */
    kbit = (double)(to->bytes - from->bytes) * 8 * 1000 / (double)span;
    return kbit < INT_MAX ? (int)(kbit + 0.5) : INT_MAX;
}

/* mark[0] is the start of the measured span; mark[1] is half a window younger and replaces mark[0]
 * when mark[1] is half a window old. So every sample eventually stops counting. */
static int windowed(struct kbps_mark mark[2], int64_t window, const struct kbps_mark *now)
{
    if (now->time - mark[1].time >= window / 2) {
        mark[0] = mark[1];
        mark[1] = *now;
    }
    return rate(&mark[0], now);
}

void kbps_init(struct kbps *k, uint64_t bytes, int64_t now)
{
    struct kbps_mark m = { bytes, now };

    *k = (struct kbps){ .last = m, .s30 = { m, m }, .m5 = { m, m } };
}

void kbps_sample(struct kbps *k, uint64_t bytes, int64_t now)
{
    struct kbps_mark m = { bytes, now };

    if (bytes < k->last.bytes) {
        kbps_init(k, bytes, now);
        return;
    }
    if (now - k->last.time < one_ms)
        return;
    k->now_kbps = rate(&k->last, &m);
    k->last = m;
    k->s30_kbps = windowed(k->s30, seconds_30, &m);
    k->m5_kbps = windowed(k->m5, minutes_5, &m);
}
