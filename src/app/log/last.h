/* SPDX-License-Identifier: MIT */
/* last.h - the last lines of the log in memory, as many as fit.
 *
 * One thread at a time. Positions count the bytes that were ever put, so who has seen the log up to
 * one asks for what came since.
 */
#ifndef APP_LOG_LAST_H
#define APP_LOG_LAST_H

#include <stddef.h>
#include <stdint.h>

struct log_last {
    char *buf;
    size_t size;         /* a power of two */
    uint64_t begin, end; /* positions: of the oldest line that is kept, behind the newest */
};

void log_last_init(struct log_last *l, size_t size);
void log_last_fini(struct log_last *l);
/* A line with its '\n'; the oldest make room. One that is longer than all of it is left out. */
void log_last_put(struct log_last *l, const char *line, size_t size);
/* The newest lines, at most so many, of those that begin at `after` or later: malloc'ed, each with
 * its '\n'. */
char *log_last_copy(const struct log_last *l, uint64_t after, size_t lines);

#endif
