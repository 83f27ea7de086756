/* SPDX-License-Identifier: MIT */
/* mailbox.c - messages from other threads to one that runs coroutines. */
#include "co/mailbox.h"

err_t co_mailbox_open(struct co_mailbox *b)
{
    *b = (struct co_mailbox){ .lock = PTHREAD_MUTEX_INITIALIZER };
    b->end = &b->first;
    return co_notify_open(&b->notify);
}

void co_mailbox_close(struct co_mailbox *b)
{
    co_notify_close(&b->notify);
    (void)pthread_mutex_destroy(&b->lock);
}

void co_mailbox_post(struct co_mailbox *b, struct co_mail *m)
{
    bool wake;

    m->next = NULL;
    (void)pthread_mutex_lock(&b->lock);
    if (!b->first)
        b->since = co_clock();
    *b->end = m;
    b->end = &m->next;
    wake = !b->raised;
    b->raised = true;
    if (wake) /* under the lock, because a reader that has read everything may close the mailbox */
        co_notify_raise(&b->notify);
    (void)pthread_mutex_unlock(&b->lock);
}

/* Takes all messages. If there are none, the next post wakes the reader; until then the reader
 * returns without a wake-up. */
static struct co_mail *take(struct co_mailbox *b)
{
    struct co_mail *all;

    (void)pthread_mutex_lock(&b->lock);
    all = b->first;
    b->first = NULL;
    b->end = &b->first;
    b->raised = all != NULL;
    b->since = 0;
    (void)pthread_mutex_unlock(&b->lock);
    return all;
}

/* Returns whether there were any messages. */
static bool read_all(struct co_mailbox *b)
{
    struct co_mail *m = take(b), *next;
    bool some = m;

    for (; m; m = next) {
        next = m->next;
        m->fn(m);
        co_yield_if_due();
    }
    return some;
}

err_t co_mailbox_run(void *box)
{
    struct co_mailbox *b = box;

    co_urgent(true);
    for (;;) {
        err_t err;

        if (read_all(b))
            continue;
        err = co_check();
        if (err)
            return err;
        (void)!co_notify_wait(&b->notify, CO_FOREVER); /* the reason for the end is checked above */
    }
}

co_usec co_mailbox_late(struct co_mailbox *b)
{
    co_usec since;

    (void)pthread_mutex_lock(&b->lock);
    since = b->since;
    (void)pthread_mutex_unlock(&b->lock);
    return since ? co_clock() - since : 0;
}
