/* SPDX-License-Identifier: MIT */
/* track_events.c - waits until the tracks of a stream are known. */
#include "live/track_events.h"

#include "base/list.h"
#include "live/impl.h"

err_t live_track_events_wait(struct live_source *src, co_usec time)
{
    struct live_track_waiter me = { .co = co_self() };
    enum co_wake wake;

    LIST_PUT(&src->waiters, &me);
    wake = co_park(time);
    LIST_TAKE(&me);
    live_source_pull(src);
    return wake == CO_STOPPED ? co_stop_why() : NULL;
}
