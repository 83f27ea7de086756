/* SPDX-License-Identifier: MIT */
/* admission_queue.h - so many at a time; others wait in line. One gate for callers of one address,
 * another for all that ask a backend. */
#ifndef SESSION_ADMISSION_QUEUE_H
#define SESSION_ADMISSION_QUEUE_H

#include "co/co.h"

/* Begins zeroed. Of one thread. */
struct admission_queue {
    unsigned n;                       /* that are in */
    struct admission_queue_guest *first, **end; /* that wait */
};

/* Waits until fewer than `most` are in, for `timeout` at most (ERR_IO_TIMEOUT); then
 * admission_queue_leave(). Yields. */
err_t admission_queue_enter(struct admission_queue *g, unsigned most, co_usec timeout)
    __attribute__((warn_unused_result));
void admission_queue_leave(struct admission_queue *g);

#endif
