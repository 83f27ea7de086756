/* SPDX-License-Identifier: MIT */
/* pid_file.h - one server per pid file. */
#ifndef APP_OS_PID_FILE_H
#define APP_OS_PID_FILE_H

#include "base/err.h"

struct pid_file {
    int fd;     /* -1: not held */
    char *path; /* absolute, so that a change of folder does not matter */
};

/* Make the file, lock it for as long as the process lives, write the pid into it. Locks are not
 * inherited, so after the last fork. ERR_PID_FILE says who has it, or what is wrong. */
err_t pid_file_lock(struct pid_file *p, const char *path) __attribute__((warn_unused_result));
/* Remove the file and let go of it. Nothing happens if it is not held. */
void  pid_file_unlock(struct pid_file *p);

/* The path of a file that belongs beside the pid file: "objs/srs.pid" gives "objs/srs" plus the
 * suffix. malloc'ed. */
char *pid_file_beside(const char *path, const char *suffix);

#endif
