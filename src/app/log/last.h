/* SPDX-License-Identifier: MIT */
/* last.h - the newest log lines, in memory, as many as fit.
 *
 * One thread at a time may use it. Positions count all bytes ever put, so a reader that has seen
 * the log up to a position can request the rest.
 */
#ifndef APP_LOG_LAST_H
#define APP_LOG_LAST_H

#include <stddef.h>
#include <stdint.h>

struct log_last {
    char *buf;
    size_t size;         /* a power of two */
    uint64_t begin, end; /* positions: start of the oldest kept line, end of the newest */
};

void log_last_init(struct log_last *l, size_t size);
void log_last_fini(struct log_last *l);
/* Appends a line with its '\n' and drops the oldest ones. Ignores a line that cannot fit. */
void log_last_put(struct log_last *l, const char *line, size_t size);
/* Returns at most `lines` of the newest lines that start at `after` or later: malloc'ed, each with
 * its '\n'. */
char *log_last_copy(const struct log_last *l, uint64_t after, size_t lines);

#endif
