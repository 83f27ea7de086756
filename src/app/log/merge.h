/* SPDX-License-Identifier: MIT */
/* merge.h - merges the log lines of several threads by the time at which they were created.
 *
 * Each thread has an inlet, its own ring, so threads never wait for each other. One taker compares
 * the oldest line of each inlet and takes the oldest of all. It does not wait for late lines, so a
 * line created during the comparison may follow a younger one. Lines of one thread keep their
 * order.
 */
#ifndef APP_LOG_MERGE_H
#define APP_LOG_MERGE_H

#include "app/log/ring.h"
#include "base/log.h"

#include <stdint.h>

enum { LOG_INLETS = 64, LOG_LINE_MAX = 8192 };

/* Header of a line in an inlet; the bytes follow. */
struct log_head {
    int64_t at; /* time of creation, microseconds of the wall clock */
    uint32_t size;
    uint32_t level;
};

struct log_inlet { /* private to merge.c */
    struct log_ring ring;
    atomic_bool used; /* its thread has not left */
};

struct log_merge { /* initially all zero: no inlets */
    _Atomic(struct log_inlet *) v[LOG_INLETS];
};

/* Returns an inlet of `buffer` bytes (a power of two) for the calling thread, or that of a thread
 * that left. Returns NULL if all LOG_INLETS are in use. Any thread may call it. */
struct log_inlet *log_merge_join(struct log_merge *g, size_t buffer);
/* The thread stops logging; its lines are still taken. */
void log_inlet_leave(struct log_inlet *i);
/* Returns false if there is no space, or if the line is longer than LOG_LINE_MAX. */
bool log_inlet_put(struct log_inlet *i, int64_t at, enum log_level level, const char *line,
                   size_t size);

bool log_merge_waits(struct log_merge *g); /* true if there is a line; any thread */
/* Returns the inlet of the oldest line and its header, or NULL. Only the taker calls this and: */
struct log_inlet *log_merge_next(struct log_merge *g, struct log_head *h);
/* Copies the h->size bytes of that line, at most LOG_LINE_MAX, and removes it. */
void log_inlet_take(struct log_inlet *i, const struct log_head *h, char *line);
/* Frees all inlets; no thread may use them any more. */
void log_merge_fini(struct log_merge *g);

#endif
