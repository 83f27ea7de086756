/* SPDX-License-Identifier: MIT */
/* mailbox.h - messages from other threads to one that runs coroutines.
 *
 * Many threads write, one reads. A message is a member of its object: nothing is allocated or
 * copied. Posting costs a mutex, and a system call only if the reader may be asleep. Messages of
 * one thread are read in the order in which it posted them.
 */
#ifndef CO_MAILBOX_H
#define CO_MAILBOX_H

#include "base/err.h"
#include "co/notify.h"

#include <pthread.h>

struct co_mail {
    struct co_mail *next;
    /* Called on the reader's thread, in the order of posting; from then on the reader owns the
     * message. Must not yield: start a coroutine for work that does. */
    void (*fn)(struct co_mail *m);
};

struct co_mailbox { /* private to mailbox.c */
    pthread_mutex_t lock;
    struct co_mail *first, **end;
    bool raised;             /* the reader is or will be awake: no other wake-up is needed */
    co_usec since;           /* when the oldest unread message was posted; 0: there is none */
    struct co_notify notify;
};

err_t co_mailbox_open(struct co_mailbox *b) __attribute__((warn_unused_result));
void  co_mailbox_close(struct co_mailbox *b); /* must be empty, with no more posts */
/* Posts m. Any thread. The mailbox owns m until its fn is called; do not post it twice. */
void  co_mailbox_post(struct co_mailbox *b, struct co_mail *m);
/* co_fn for the thread that opened the mailbox: reads until asked to stop and nothing is left. */
err_t co_mailbox_run(void *box);
/* Returns how long the oldest message has waited, 0 if there is none. Any thread. */
co_usec co_mailbox_late(struct co_mailbox *b);

#endif
