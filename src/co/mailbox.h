/* SPDX-License-Identifier: MIT */
/* mailbox.h - messages from other threads to one that runs coroutines.
 *
 * Many write, one reads. A message is a member of what it is about: nothing is allocated or copied,
 * and to post one costs a mutex, and a system call only if the reader may sleep. What one thread
 * posts is read in that order.
 */
#ifndef CO_MAILBOX_H
#define CO_MAILBOX_H

#include "base/err.h"
#include "co/notify.h"

#include <pthread.h>

struct co_mail {
    struct co_mail *next;
    /* Called on the reader's thread, in the order of posting. The message is the reader's from then
     * on. It must not yield: for what does, it starts a coroutine. */
    void (*fn)(struct co_mail *m);
};

struct co_mailbox { /* fields are of mailbox.c */
    pthread_mutex_t lock;
    struct co_mail *first, **end;
    bool raised;             /* the reader is awake, or will be: no other wake is needed */
    co_usec since;           /* when the oldest unread message was posted; 0: there is none */
    struct co_notify notify;
};

err_t co_mailbox_open(struct co_mailbox *b) __attribute__((warn_unused_result));
void  co_mailbox_close(struct co_mailbox *b); /* empty, and nobody posts any more */
/* Any thread. m is the mailbox's until its fn is called, and is not posted twice. */
void  co_mailbox_post(struct co_mailbox *b, struct co_mail *m);
/* co_fn of the thread that opened it: reads until it is asked to stop and nothing is left. */
err_t co_mailbox_run(void *box);
/* How long the oldest message has waited, 0 without one. Any thread. */
co_usec co_mailbox_late(struct co_mailbox *b);

#endif
