/* SPDX-License-Identifier: MIT */
/* reap.c - free what a stream leaves behind some at a time. */
#include "live/reap.h"

#include "co/co.h"

static _Thread_local struct live_reap *first;
static _Thread_local struct co_task task;

/* False: some is left. */
static bool free_first(void)
{
    struct live_reap *r = first, *next = r->next;

    if (!r->some(r))
        return false;
    first = next;
    return true;
}

static void turn(struct co_task *t)
{
    while (first && free_first()) {
    }
    if (first)
        co_post(t, turn);
}

void live_reap(struct live_reap *r)
{
    r->next = first;
    first = r;
    co_post(&task, turn);
}

void live_reap_now(void)
{
    while (first)
        (void)free_first();
    co_post_cancel(&task);
}
