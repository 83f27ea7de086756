/* SPDX-License-Identifier: MIT */
/* reap.c - free what a stream leaves behind some at a time. */
#include "live/reap.h"

#include "co/co.h"

static _Thread_local struct live_reap *first;
static _Thread_local struct co_task task;

static void free_one(void)
{
    struct live_reap *r = first, *next = r->next;

    if (!r->free_one(r))
        first = next;
}

/* One thing in any case, and as many as the slice of time allows. */
static void turn(struct co_task *t)
{
    do
        free_one();
    while (first && !co_slice_over());
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
        free_one();
    co_post_cancel(&task);
}
