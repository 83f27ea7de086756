/* SPDX-License-Identifier: MIT */
/* merge.h - the lines of several threads, put in one row by the time at which they were made.
 *
 * Each thread has an inlet, a ring of its own, so none ever waits for another; one taker looks at
 * the oldest line of each and takes the oldest of those. A line that is made while it looks may
 * come after a younger one: it does not wait for what may still come. Those of one thread never
 * change their order.
 */
#ifndef APP_LOG_MERGE_H
#define APP_LOG_MERGE_H

#include "app/log/ring.h"
#include "base/log.h"

#include <stdint.h>

enum { LOG_INLETS = 64, LOG_LINE_MAX = 8192 };

/* One line in an inlet, before its bytes. */
struct log_head {
    int64_t at; /* when it was made, microseconds of the wall clock */
    uint32_t size;
    uint32_t level;
};

struct log_inlet { /* fields are of gather.c */
    struct log_ring ring;
    atomic_bool used; /* by a thread that has not left */
};

struct log_merge { /* all zero: no inlet */
    _Atomic(struct log_inlet *) v[LOG_INLETS];
};

/* An inlet with room for so many bytes, a power of two, for the thread that calls; that of one that
 * left, if there is one. NULL: there are LOG_INLETS. Any thread. */
struct log_inlet *log_merge_join(struct log_merge *g, size_t buffer);
/* The thread puts no more; what it put is still taken. */
void log_inlet_leave(struct log_inlet *i);
/* False: no room for it, or it is longer than any line. */
bool log_inlet_put(struct log_inlet *i, int64_t at, enum log_level level, const char *line,
                   size_t size);

bool log_merge_waits(struct log_merge *g); /* is there a line? Any thread */
/* Whose line is the next one, and what it is like; NULL: there is none. For the taker, as is: */
struct log_inlet *log_merge_next(struct log_merge *g, struct log_head *h);
/* Copy that line's h->size bytes, at most LOG_LINE_MAX, and let it go. */
void log_inlet_take(struct log_inlet *i, const struct log_head *h, char *line);
/* Nobody puts or takes any more. */
void log_merge_fini(struct log_merge *g);

#endif
