/* SPDX-License-Identifier: MIT */
/* time.h - the own time of a stream's HLS: without the jumps and gaps of what comes in. Pure. */
#ifndef SINK_HLS_SEGMENT_TIME_H
#define SINK_HLS_SEGMENT_TIME_H

#include "format/frame.h"

struct hls_time {
    bool started;
    int64_t offset;          /* to add to what comes in */
    int64_t last[2];         /* of video and audio, out */
    int64_t usual[2];        /* how long a frame lasts */
    bool seen[2];
};

void hls_time_restart(struct hls_time *t); /* another publisher */
/* Move the frame to the stream's own time. A pause of up to gap_max is one. */
void hls_time_apply(struct hls_time *t, struct frame *f, int64_t gap_max);
int64_t hls_time_end(const struct hls_time *t); /* where all that came ends */

#endif
