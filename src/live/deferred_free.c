/* SPDX-License-Identifier: MIT */
/* deferred_free.c - frees large parts of a stream in small steps. */
#include "live/deferred_free.h"

#include "co/co.h"

static _Thread_local struct live_deferred_free *first;
static _Thread_local struct co_task task;

static void free_one(void)
{
    struct live_deferred_free *r = first, *next = r->next;

    if (!r->free_one(r))
        first = next;
}

/* Frees at least one part, and more while the time slice lasts. */
static void turn(struct co_task *t)
{
    do
        free_one();
    while (first && !co_slice_over());
    if (first)
        co_post(t, turn);
}

void live_deferred_free(struct live_deferred_free *r)
{
    r->next = first;
    first = r;
    co_post(&task, turn);
}

void live_deferred_free_flush(void)
{
    while (first)
        free_one();
    co_post_cancel(&task);
}
