/* SPDX-License-Identifier: MIT */
/* writer.h - writes log lines to a file or the console on its own thread.
 *
 * A thread that logs never waits for a disk or a terminal: lines go to a bounded buffer, which the
 * writer thread empties. If the buffer or the disk is full, or the file cannot be opened, lines are
 * dropped and counted, and the next line that gets through reports how many. No failure ends the
 * program.
 */
#ifndef APP_LOG_WRITER_H
#define APP_LOG_WRITER_H

#include "base/err.h"
#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>

struct log_writer; /* one owner */
struct log_inlet;

/* Creates a writer for a file (appends, creates it if missing), or, if path is NULL, for the
 * descriptor `fd`, which the caller keeps. `buffer` is in bytes, a power of two. If the file cannot
 * be opened, it reports that once on stderr and tries again later. Until log_writer_start() the
 * caller's thread writes the lines, so a program may fork after its first lines. */
struct log_writer *log_writer_open(const char *path, int fd, size_t buffer);
err_t log_writer_start(struct log_writer *t) __attribute__((warn_unused_result));
/* Writes pending lines, for at most two seconds, and frees it. t may be NULL. */
void  log_writer_close(struct log_writer *t);

/* Puts a line with its '\n'. Only one thread may call it. Never waits once the writer is started.
 * */
void log_writer_put(struct log_writer *t, enum log_level level, const char *line, size_t size);

/* For several threads: each joins when it starts and leaves after its last line. The first to join
 * is the thread that has logged so far, before the others run. From then on threads log through
 * inlets only, and lines are written in the order of their creation (merge.h). The writer must have
 * been started. */
struct log_inlet *log_writer_join(struct log_writer *t);
void log_writer_leave(struct log_writer *t, struct log_inlet *i);
/* Like log_writer_put(), for a line created at time `made` (microseconds of the wall clock). If the
 * inlet is NULL (the thread has not joined), the line is lost and counted. Never waits. */
void log_writer_put_from(struct log_writer *t, struct log_inlet *i, int64_t made,
                       enum log_level level, const char *line, size_t size);

/* Keeps the newest `size` bytes of lines in memory from now on; a power of two (last.h). */
void  log_writer_keep(struct log_writer *t, size_t size);
/* Returns lines by log_last_copy(), malloc'ed; pass *end as the next `after`. Only the first thread
 * that joined, or the only one, may call it. */
char *log_writer_last(struct log_writer *t, uint64_t after, size_t lines, uint64_t *end);

/* Makes the writer reopen the file soon, because it was renamed. */
void log_writer_reopen(struct log_writer *t);
/* Waits up to `ms` until all lines so far are written. Returns false if they are not. */
bool log_writer_flush(struct log_writer *t, int ms);
/* Writes all pending lines on the calling thread, then last_words. Async-signal-safe; for a process
 * that is crashing. */
void log_writer_crash(struct log_writer *t, const char *last_words, size_t size);
/* Returns the number of lines lost since the last report of lost lines. */
unsigned long log_writer_lost(const struct log_writer *t);

#endif
