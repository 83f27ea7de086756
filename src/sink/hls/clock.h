/* SPDX-License-Identifier: MIT */
/* clock.h - the wall clock shown to the players of a stream, which never goes back.
 *
 * If the system's clock is set back, all earlier segments would be in the future and players would
 * wait for them. So the stream keeps its own time, and the MPD has it as UTCTiming. It follows
 * steps forward. A change smaller than a step is drift.
 */
#ifndef SINK_HLS_CLOCK_H
#define SINK_HLS_CLOCK_H

#include <stdint.h>

struct hls_clock {
    int64_t offset; /* ms between the wall clock and the monotonic clock, when last read */
    int64_t ahead;  /* ms that this clock is ahead, because the system's was set back */
};

void hls_clock_begin(struct hls_clock *c);
int64_t hls_clock_now(struct hls_clock *c); /* ms since 1970 */

#endif
