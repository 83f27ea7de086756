/* SPDX-License-Identifier: MIT */
/* file.h - the program's one log, as the configuration wants it. */
#ifndef APP_LOG_FILE_H
#define APP_LOG_FILE_H

#include "base/err.h"
#include "conf/conf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From here on lines go to the tank, level and file of the configuration. */
void  log_file_open(const struct conf *c);
/* The limits and secrets of this one from now on, for all threads. */
void  log_file_rule(const struct conf *c);
bool  log_file_is_open(void);
/* Does who started the program see the lines on the terminal? */
bool  log_file_is_console(void);
/* From here on they are written by a thread of their own: after the last fork. */
err_t log_file_start(void) __attribute__((warn_unused_result));
/* The file was renamed: go on in a new one. */
void  log_file_reopen(void);
/* Write all there is (for at most two seconds), let lines go to stderr again. */
void  log_file_close(void);

/* Where several threads make lines, each joins when it begins: the first scheduler before the
 * others are there, after log_file_start(). A thread that ends says so after its last line: what it
 * put is written all the same. */
void  log_file_join(void);
void  log_file_leave(void);

/* The newest lines that are kept in memory, of those from position `after` on: malloc'ed text. *end
 * is where to go on. For the first scheduler. */
char *log_file_last(uint64_t after, size_t lines, uint64_t *end);

/* For a signal handler of a program that dies: write all there is, then these words, as an error
 * line in the usual shape. Async-signal-safe. Of several threads the first one says its words; the
 * others wait for it to end the process, at most two seconds. */
void  log_file_crash(const char *words);

#endif
