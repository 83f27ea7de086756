/* SPDX-License-Identifier: MIT */
/* admission_queue.h - limits how many coroutines run at a time; others wait in order. Used for the
 * clients of one address, and for all requests to a backend. */
#ifndef SESSION_ADMISSION_QUEUE_H
#define SESSION_ADMISSION_QUEUE_H

#include "co/co.h"

/* Initially zero. Used by one thread. */
struct admission_queue {
    unsigned n;                       /* number of admitted coroutines */
    struct admission_queue_waiter *first, **end; /* waiting ones */
};

/* Waits up to `timeout` until fewer than `most` are admitted (else ERR_IO_TIMEOUT). Call
 * admission_queue_leave() afterwards. Yields. */
err_t admission_queue_enter(struct admission_queue *g, unsigned most, co_usec timeout)
    __attribute__((warn_unused_result));
void admission_queue_leave(struct admission_queue *g);

#endif
