/* SPDX-License-Identifier: MIT */
/* pid_file.h - one server per pid file. */
#ifndef APP_OS_PID_FILE_H
#define APP_OS_PID_FILE_H

#include "base/err.h"

struct pid_file {
    int fd;     /* -1: not locked */
    char *path; /* absolute, independent of the current folder */
};

/* Creates the file, locks it for the life of the process and writes the pid. Call it after the last
 * fork, since locks are not inherited. ERR_PID_FILE names the process that holds it, or the
 * problem. */
err_t pid_file_lock(struct pid_file *p, const char *path) __attribute__((warn_unused_result));
/* Removes and unlocks the file. Does nothing if it is not locked. */
void  pid_file_unlock(struct pid_file *p);

/* Returns the path of a file next to the pid file, malloc'ed: "objs/srs.pid" gives "objs/srs" plus
 * the suffix. */
char *pid_file_beside(const char *path, const char *suffix);

#endif
