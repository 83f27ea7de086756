/* SPDX-License-Identifier: MIT */
/* admission_queue.c - limits how many coroutines run at a time; others wait in order. */
#include "session/admission_queue.h"

struct admission_queue_waiter {
    struct admission_queue_waiter *next;
    struct co *co;
    bool in;
};

static void unlink_guest(struct admission_queue *g, struct admission_queue_waiter *guest)
{
    struct admission_queue_waiter **at = &g->first;

    while (*at != guest)
        at = &(*at)->next;
    *at = guest->next;
    if (!*at)
        g->end = at;
}

err_t admission_queue_enter(struct admission_queue *g, unsigned most, co_usec timeout)
{
    struct admission_queue_waiter me = { .co = co_self() };
    co_usec until = timeout == CO_FOREVER ? 0 : co_clock() + timeout;

    if (g->n < most) {
        g->n++;
        return NULL;
    }
    *(g->first ? g->end : &g->first) = &me;
    g->end = &me.next;
    while (!me.in) {
        co_usec left = until ? until - co_clock() : CO_FOREVER;
        bool over = until && left <= 0;
        bool stop = !over && co_park(left) == CO_STOPPED;

        if (me.in || (!stop && !over))
            continue;
        unlink_guest(g, &me);
        return err_wrap(over ? err_new(ERR_IO_TIMEOUT, "%lld s", us_to_s(timeout)) : co_stop_why(),
                        "wait for a slot");
    }
    return NULL;
}

/* Passes the slot to the next waiting coroutine. */
void admission_queue_leave(struct admission_queue *g)
{
    struct admission_queue_waiter *next = g->first;

    if (!next) {
        g->n--;
        return;
    }
    g->first = next->next;
    next->in = true;
    co_unpark(next->co);
}
