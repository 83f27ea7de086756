/* SPDX-License-Identifier: MIT */
/* notify.h - wakes a coroutine from another thread or from a signal handler. */
#ifndef CO_NOTIFY_H
#define CO_NOTIFY_H

#include "base/err.h"
#include "co/co.h"
#include "co/sock.h"

struct co_notify {
    struct sock sock; /* over an eventfd */
};

err_t co_notify_open(struct co_notify *n) __attribute__((warn_unused_result));
void  co_notify_close(struct co_notify *n); /* call when no thread can raise it any more */
/* Wakes the waiter. Any thread, any signal handler. If raised before the wait, the wait returns at
 * once. */
void  co_notify_raise(const struct co_notify *n);
/* Waits until it was raised, once or more since the last wait. One coroutine at a time. Yields. */
enum co_wake co_notify_wait(struct co_notify *n, co_usec timeout)
    __attribute__((warn_unused_result));

#endif
