/* SPDX-License-Identifier: MIT */
/* child_exec.h - how a child process comes to run a program; for co/child alone. */
#ifndef CO_OS_CHILD_EXEC_H
#define CO_OS_CHILD_EXEC_H

#include "base/err.h"

#include <sys/types.h>

struct child_exec {
    const char *const *argv, *const *env; /* env NULL: nothing is in it */
    char *path;       /* of the program; malloc'ed, the caller frees it */
    int in, out, err; /* what becomes its 0, 1 and 2; none is below 3 */
};

/* Find the program. ERR_NO_FILE. */
err_t child_exec_find(struct child_exec *x) __attribute__((warn_unused_result));
/* Run it: in a group of its own that is killed when this thread ends. ERR_NO_FILE: the system does
 * not take it as a program; ERR_SYSTEM. Returns when it runs. */
err_t child_exec_start(struct child_exec *x, pid_t *pid) __attribute__((warn_unused_result));

#endif
