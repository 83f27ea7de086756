/* SPDX-License-Identifier: MIT */
/* timer.c - when a client without a coroutine is looked at again. */
#include "serve/datagram/datagram.h"

#define GRID CO_MS(10)

void datagram_timer_set(struct co_timer *t, co_usec due, co_usec now,
                        void (*fn)(struct co_timer *t))
{
    if (due == CO_FOREVER) {
        co_timer_cancel(t);
        return;
    }
    if (due < now)
        due = now;
    due = (due + GRID - 1) / GRID * GRID;
    if (!t->prev || t->due != due)
        co_timer_set(t, due, fn);
}
