/* SPDX-License-Identifier: MIT */
/* job_log.h - what a program of ours says: its file, and its last words for those who ask.
 *
 * Lines go to the file; the counters that a program draws over each other (they end by '\r') are
 * many and worth nothing later, so only the last one is kept, in memory. A file over JOB_LOG_MOST
 * becomes FILE.1 and a new one begins, so a program that talks all year fills no disk.
 */
#ifndef SINK_PROGRAM_JOB_LOG_H
#define SINK_PROGRAM_JOB_LOG_H

#include <stddef.h>

struct disk;
struct job_log; /* owned by who opened it */

enum { JOB_LOG_MOST = 16 * 1024 * 1024, JOB_LOG_LINE = 256 };

/* path NULL: no file. It is opened when there is something to write. */
struct job_log *job_log_open(struct disk *disk, const char *path);
/* Writes what waits, then frees it: soon, not now. Does not yield; nor does anything here. */
void job_log_close(struct job_log *l);

/* Any piece of what the program said; for struct co_child_setup. */
void job_log_said(void *log, const char *text, size_t size);
/* A line of our own into the file. */
void job_log_note(struct job_log *l, const char *line);
/* The program ended: what it said last is a line, whole or not. */
void job_log_end(struct job_log *l);

/* Its last line and the last state of its counter, cut to JOB_LOG_LINE, without control
 * characters; "" for none. Valid until more is said. */
const char *job_log_line(const struct job_log *l);
const char *job_log_counter(const struct job_log *l);

#endif
