/* SPDX-License-Identifier: MIT */
/* track_events.h - waits until the tracks of a stream are known, to describe it. */
#ifndef LIVE_TRACK_EVENTS_H
#define LIVE_TRACK_EVENTS_H

#include "live/source.h"

/* Waits at most `time` until a publisher begins, or until a codec, a configuration or the first key
 * frame arrives. The caller then checks the source; other frames do not wake it. Holds nothing of
 * the log. Yields; the caller has a reference to src. ERR_STOPPED or similar if the coroutine was
 * stopped. */
err_t live_track_events_wait(struct live_source *src, co_usec time)
    __attribute__((warn_unused_result));

#endif
