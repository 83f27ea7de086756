/* SPDX-License-Identifier: MIT */
/* task_queue.c - queued work for helper threads; a few coroutines take it in order and wait. */
#include "base/container_of.h"
#include "co/thread.h"
#include "vod/store.h"

/* The delay before the next try when a coroutine could not be started. */
#define AGAIN CO_MS(100)

void vod_queue_open(struct vod_queue *q)
{
    *q = (struct vod_queue){ 0 };
    co_group_init(&q->loaders);
    for (int i = 0; i < 2; i++)
        q->lines[i].end = &q->lines[i].first;
}

/* ---- choosing the next task */

static unsigned *busy_with(struct vod_queue *q, uint64_t device)
{
    unsigned empty = 0;

    for (unsigned i = 0; i < VOD_LOADERS; i++) {
        if (q->busy[i].n > 0 && q->busy[i].device == device)
            return &q->busy[i].n;
        if (q->busy[i].n == 0)
            empty = i;
    }
    q->busy[empty].device = device;
    return &q->busy[empty].n;
}

static struct vod_task *take_from(struct vod_queue *q, struct vod_line *line)
{
    struct vod_task **at = &line->first, *t;

    while (*at && !q->closing && *busy_with(q, (*at)->device) >= VOD_LOADERS / 2)
        at = &(*at)->next;
    t = *at;
    if (!t)
        return NULL;
    *at = t->next;
    if (!*at)
        line->end = at;
    q->n_ahead -= t->ahead;
    if (q->closing)
        t->due = 0;
    return t;
}

static struct vod_task *take(struct vod_queue *q)
{
    struct vod_task *t = take_from(q, &q->lines[false]);

    return t ? t : take_from(q, &q->lines[true]);
}

/* ---- loaders */

static err_t load(void *arg)
{
    struct vod_queue *q = arg;
    struct vod_task *t;

    co_log_as(LOG_UNTRUSTED_ALL);
    while ((t = take(q))) {
        uint64_t device = t->device;

        ++*busy_with(q, device);
        t->go(t);
        --*busy_with(q, device);
    }
    q->running--;
    return NULL;
}

static void start(struct vod_queue *q);

static void on_again(struct co_timer *t)
{
    start(container_of(t, struct vod_queue, again));
}

static bool one_may_go(struct vod_queue *q)
{
    for (int i = 0; i < 2; i++) {
        for (struct vod_task *t = q->lines[i].first; t; t = t->next) {
            if (*busy_with(q, t->device) < VOD_LOADERS / 2)
                return true;
        }
    }
    return false;
}

static void start(struct vod_queue *q)
{
    err_t err;

    if (q->closing || q->running >= VOD_LOADERS || !one_may_go(q))
        return;
    err = co_go(&q->loaders, "vod loader", load, q);
    if (err)
        co_timer_set(&q->again, co_now() + AGAIN, on_again);
    else
        q->running++;
    err_free(&err);
}

void vod_queue_put(struct vod_queue *q, struct vod_task *t)
{
    struct vod_line *line = &q->lines[t->ahead];

    t->next = NULL;
    *line->end = t;
    line->end = &t->next;
    q->n_ahead += t->ahead;
    start(q);
}

void vod_queue_take(struct vod_queue *q, struct vod_task *t)
{
    struct vod_line *line = &q->lines[t->ahead];
    struct vod_task **at = &line->first;

    while (*at != t)
        at = &(*at)->next;
    *at = t->next;
    if (!*at)
        line->end = at;
}

void vod_queue_close(struct vod_queue *q)
{
    err_t err;

    q->closing = true;
    co_timer_cancel(&q->again);
    err = co_group_stop(&q->loaders);
    err_free(&err);
    for (struct vod_task *t; (t = take(q));)
        t->go(t);
}

err_t vod_task_run(const struct vod_task *t, void (*fn)(void *arg), void *arg,
                   void (*drop)(void *arg))
{
    co_usec left = t->due - co_now();
    err_t err = co_check();

    if (!err && left <= 0)
        err = err_new(ERR_IO_TIMEOUT, "no thread was free");
    if (err) {
        drop(arg);
        return err;
    }
    return co_thread_run_queue(CO_POOL_VOD, vod_lane(t->device), fn, arg, drop, left);
}
