/* SPDX-License-Identifier: MIT */
/* track_events.c - wait until a stream shows what it is made of. */
#include "live/track_events.h"

#include "live/impl.h"

/* On the stack of the coroutine that waits. */
struct live_track_waiter {
    struct co *co;
    struct live_track_waiter *next, **prev;
};

static void link_in(struct live_source *src, struct live_track_waiter *n)
{
    n->next = src->waiters;
    n->prev = &src->waiters;
    if (n->next)
        n->next->prev = &n->next;
    src->waiters = n;
}

static void link_out(const struct live_track_waiter *n)
{
    *n->prev = n->next;
    if (n->next)
        n->next->prev = n->prev;
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

/* They run later, when the packet is in the log. */
void live_track_events_wake(struct live_source *src)
{
    for (struct live_track_waiter *n = src->waiters; n; n = n->next)
        co_unpark(n->co);
}
