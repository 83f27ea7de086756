/* SPDX-License-Identifier: MIT */
/* writer.h - where log lines end up: a file or the console, written by a thread of its own.
 *
 * The thread that makes lines never waits for a disk or a terminal: lines go to a bounded buffer
 * and a small writer thread empties it. When the buffer is full, the disk is, or the file cannot
 * be opened, lines are dropped and counted; the first line that gets through again says how many.
 * Nothing here ends the program.
 */
#ifndef APP_LOG_WRITER_H
#define APP_LOG_WRITER_H

#include "base/err.h"
#include "base/log.h"

#include <stdbool.h>
#include <stddef.h>

struct log_writer; /* one owner */
struct log_inlet;

/* A tank over a file (append; made if it is not there), or with path NULL over the descriptor
 * `fd`, which stays the caller's. `buffer` is in bytes, a power of two. A file that cannot be
 * opened is said once on stderr and tried again later. Until log_writer_start() lines are written
 * by the caller's thread, so a program may fork after it has said its first lines. */
struct log_writer *log_writer_open(const char *path, int fd, size_t buffer);
err_t log_writer_start(struct log_writer *t) __attribute__((warn_unused_result));
/* Writes what waits, for at most two seconds. t may be NULL. */
void  log_writer_close(struct log_writer *t);

/* A line with its '\n'. One thread only. Never waits once the tank is started. */
void log_writer_put(struct log_writer *t, enum log_level level, const char *line, size_t size);

/* Several threads: each joins when it begins, and leaves when it has put its last line. The first
 * to join is the one that has put lines until now, before the others run. From then on lines are
 * put from inlets alone, and come out in the order in which they were made (gather.h). The tank is
 * started. */
struct log_inlet *log_writer_join(struct log_writer *t);
void log_writer_leave(struct log_writer *t, struct log_inlet *i);
/* The same as log_writer_put(), of a line made at that time (microseconds of the wall clock). NULL,
 * for a thread that did not join: the line is lost, and counted. Waits for nobody. */
void log_writer_put_from(struct log_writer *t, struct log_inlet *i, int64_t made,
                       enum log_level level, const char *line, size_t size);

/* From now on keep the newest lines in memory, so many bytes, a power of two (last.h). */
void  log_writer_keep(struct log_writer *t, size_t size);
/* Those of them that log_last_copy() gives: malloc'ed. *end is where to go on. For the first thread
 * that joined, or the only one. */
char *log_writer_last(struct log_writer *t, uint64_t after, size_t lines, uint64_t *end);

/* Open the file anew (it was renamed), soon, by the writer. */
void log_writer_reopen(struct log_writer *t);
/* Wait until all lines put so far are written, at most so long. False: they are not. */
bool log_writer_flush(struct log_writer *t, int ms);
/* Write what waits, now, by who calls. Async-signal-safe: for a program that is about to die. */
void log_writer_crash(struct log_writer *t, const char *last_words, size_t size);
/* Lines dropped since the last line that told how many. */
unsigned long log_writer_lost(const struct log_writer *t);

#endif
