/* SPDX-License-Identifier: MIT */
/* clock.c - the peer's clock as we see it. */
#include "proto/srt/clock.h"

#include <stdlib.h>

enum { SAMPLES = 32 };
#define RTT_FIRST CO_MS(100)
#define RTT_MOST  CO_SECONDS(10)
/* Two clocks may drift by 200 ppm: over such a time that is 1.6 ms, and it is seen when it is over
 * 1 ms, so all in all the base is never 5 ms wrong. A jitter of 20 ms is less than 1 ms of a
 * mean. */
#define DRIFT_TIME CO_SECONDS(8)
#define DRIFT_SEEN CO_MS(1)

void srt_clock_init(struct srt_clock *c, co_usec base)
{
    *c = (struct srt_clock){ .base = base, .rtt = RTT_FIRST, .variance = RTT_FIRST / 2 };
}

/* How far behind what it could be at the earliest is it? Half a wrap is 36 minutes. */
static co_usec lag(const struct srt_clock *c, uint32_t time, co_usec now)
{
    return -(co_usec)(int32_t)(time - (uint32_t)(now - c->base));
}

co_usec srt_clock_unwrap(const struct srt_clock *c, uint32_t time, co_usec now)
{
    return now - c->base - lag(c, time, now);
}

static void smooth(struct srt_clock *c, co_usec rtt)
{
    if (!c->has_rtt) {
        c->rtt = rtt;
        c->variance = rtt / 2;
    } else {
        c->variance += (llabs(rtt - c->rtt) - c->variance) / 4;
        c->rtt += (rtt - c->rtt) / 8;
    }
    c->has_rtt = true;
}

/* The way to us may have become longer: it is taken for half of what the round trip did. */
static void correct(struct srt_clock *c)
{
    co_usec rtt = c->rtt_sum / c->samples, drift;

    c->usual = c->has_usual ? c->usual : rtt;
    c->has_usual = true;
    drift = c->drift_sum / c->samples - (rtt - c->usual) / 2;
    if (llabs(drift) > DRIFT_SEEN)
        c->base += drift;
}

void srt_clock_sample(struct srt_clock *c, co_usec rtt, uint32_t time, co_usec now)
{
    if (rtt < 0 || rtt > RTT_MOST)
        return;
    smooth(c, rtt);
    if (c->samples == 0)
        c->since = now;
    c->drift_sum += lag(c, time, now);
    c->rtt_sum += rtt;
    c->samples++;
    if (c->samples < SAMPLES || now - c->since < DRIFT_TIME)
        return;
    correct(c);
    c->drift_sum = c->rtt_sum = 0;
    c->samples = 0;
}
