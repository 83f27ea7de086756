/* SPDX-License-Identifier: MIT */
/* job_log.h - the output of a program: a log file, and its last line for the API.
 *
 * Lines go to the file. Progress counters (they end with '\r') are many and useless later, so only
 * the last one is kept, in memory. A file over JOB_LOG_MOST is renamed to FILE.1 and a new one
 * starts, so that a program that runs for a year does not fill the disk.
 */
#ifndef SINK_PROGRAM_JOB_LOG_H
#define SINK_PROGRAM_JOB_LOG_H

#include <stddef.h>

struct disk;
struct job_log; /* owned by the caller of job_log_open() */

enum { JOB_LOG_MOST = 16 * 1024 * 1024, JOB_LOG_LINE = 256 };

/* If path is NULL there is no file. The file is opened at the first write. */
struct job_log *job_log_open(struct disk *disk, const char *path);
/* Writes pending lines, then frees it, both later. Nothing here yields. */
void job_log_close(struct job_log *l);

/* Receives any piece of the program's output; for struct co_child_setup. */
void job_log_said(void *log, const char *text, size_t size);
/* Adds a line of the server to the file. */
void job_log_note(struct job_log *l, const char *line);
/* The program ended: an incomplete last line counts as a line. */
void job_log_end(struct job_log *l);

/* Return its last line and its last progress counter, cut to JOB_LOG_LINE, without control
 * characters; "" if none. Valid until more output arrives. */
const char *job_log_line(const struct job_log *l);
const char *job_log_counter(const struct job_log *l);

#endif
