/* SPDX-License-Identifier: MIT */
/* track_events.c - wait until a stream shows what it is made of. */
#include "live/track_events.h"

#include "live/impl.h"

static void link_in(struct live_source *src, struct live_track_waiter *w)
{
    w->next = src->waiters;
    w->prev = &src->waiters;
    if (w->next)
        w->next->prev = &w->next;
    src->waiters = w;
}

static void link_out(const struct live_track_waiter *w)
{
    *w->prev = w->next;
    if (w->next)
        w->next->prev = w->prev;
}

err_t live_track_events_wait(struct live_source *src, co_usec time)
{
    struct live_track_waiter me = { .co = co_self() };
    enum co_wake wake;

    link_in(src, &me);
    wake = co_park(time);
    link_out(&me);
    live_source_pull(src);
    return wake == CO_STOPPED ? co_stop_why() : NULL;
}
