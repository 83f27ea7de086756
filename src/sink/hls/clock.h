/* SPDX-License-Identifier: MIT */
/* clock.h - the wall clock as the players of a stream know it: one that never goes back.
 *
 * A clock that is set back would put all segments of before into the future, and players would wait
 * for them. So the stream keeps the time it had, and the MPD has it as UTCTiming. Steps forward are
 * taken over; drift is less than a step.
 */
#ifndef SINK_HLS_CLOCK_H
#define SINK_HLS_CLOCK_H

#include <stdint.h>

struct hls_clock {
    int64_t offset; /* ms from the monotonic clock, when last read */
    int64_t ahead;  /* ms that the system's clock was set back since, which this one was not */
};

void hls_clock_begin(struct hls_clock *c);
int64_t hls_clock_now(struct hls_clock *c); /* ms since 1970 */

#endif
