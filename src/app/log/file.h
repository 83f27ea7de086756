/* SPDX-License-Identifier: MIT */
/* file.h - the log of the process, set up by the configuration. */
#ifndef APP_LOG_FILE_H
#define APP_LOG_FILE_H

#include "base/err.h"
#include "conf/conf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens the log that the configuration names: console or file, and level. */
void  log_file_open(const struct conf *c);
/* Applies this configuration's limits and hidden secrets from now on, for all threads. */
void  log_file_rule(const struct conf *c);
bool  log_file_is_open(void);
/* Returns true if the lines go to the terminal. */
bool  log_file_is_console(void);
/* Starts the writer thread. Call it after the last fork. */
err_t log_file_start(void) __attribute__((warn_unused_result));
/* Reopens the file after it was renamed. */
void  log_file_reopen(void);
/* Writes all pending lines (for at most two seconds); later lines go to stderr. */
void  log_file_close(void);

/* If several threads log, each joins when it starts: the first scheduler before the others, and
 * after log_file_start(). A thread leaves after its last line; its lines are still written. */
void  log_file_join(void);
void  log_file_leave(void);

/* Returns the newest lines in memory that start at position `after` or later, as malloc'ed text.
 * Pass *end as the next `after`. Only the first scheduler calls it. */
char *log_file_last(uint64_t after, size_t lines, uint64_t *end);

/* For the signal handler of a crash: writes all pending lines, then `words` as an error line in the
 * usual shape. Async-signal-safe. If several threads crash, the first one writes and the others
 * wait at most two seconds for it to end the process. */
void  log_file_crash(const char *words);

#endif
