/* SPDX-License-Identifier: MIT */
/* track_events.h - wait until a stream shows what it is made of, to describe it. */
#ifndef LIVE_TRACK_EVENTS_H
#define LIVE_TRACK_EVENTS_H

#include "live/source.h"

/* Waits until a publisher begins, or a codec, a configuration or the first key frame comes, at most
 * so long. The caller then checks the source for which; other frames do not wake it. Holds nothing
 * of the log. Yields; the caller has a reference to src. ERR_STOPPED and the like when asked to
 * stop. */
err_t live_track_events_wait(struct live_source *src, co_usec time)
    __attribute__((warn_unused_result));

#endif
