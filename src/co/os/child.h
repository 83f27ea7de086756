/* SPDX-License-Identifier: MIT */
/* child.h - child processes for coroutines.
 *
 * A child leads its own process group, so it and everything it starts end together. The kernel
 * kills it when we die, or when the thread that started it ends: a child belongs to that thread,
 * which ends its children before itself. It starts with only descriptors 0 to 2, no signal ignored
 * or blocked, and an empty stdin. Its end is reported through a descriptor, so no SIGCHLD can be
 * lost and no other child is touched.
 *
 * Starting one stops the thread until the program is loaded: about a millisecond, regardless of our
 * memory.
 */
#ifndef CO_OS_CHILD_H
#define CO_OS_CHILD_H

#include "base/err.h"
#include "co/co.h"

struct co_child; /* owned by the caller that started it, which ends it with co_child_end() */

struct co_child_setup {
    const char *const *argv; /* ends with NULL. A name without '/' is searched in PATH */
    const char *const *env;  /* its environment, ends with NULL; NULL: empty; never ours */
    const char *out, *err;   /* files to append its stdout and stderr to; NULL: said() */
    /* Receives its output in arbitrary pieces, not lines. Must not yield. NULL: discards it. */
    void (*said)(void *arg, const char *text, size_t size);
    void *arg;
};

/* Starts a child. ERR_NO_FILE: there is no such program or file, or no permission; ERR_SYSTEM. Does
 * not yield. */
err_t co_child_start(struct co_child **out, const struct co_child_setup *setup)
    __attribute__((warn_unused_result));
/* Waits until the child has ended, and handles its output meanwhile. *ended is false on timeout.
 * ERR_STOPPED: the calling coroutine was asked to stop. Yields. */
err_t co_child_wait(struct co_child *c, co_usec timeout, bool *ended)
    __attribute__((warn_unused_result));
/* Sends SIGTERM to its group, waits for at most `patience`, then kills the rest of the group and
 * frees c. Writes the result to `how` (may be NULL): "runs", "ended", "status 1" or "signal 9".
 * Also works, with the same waits, in a coroutine that was asked to stop. c may be NULL. Yields. */
void co_child_end(struct co_child *c, co_usec patience, char *how, size_t size);

int co_child_pid(const struct co_child *c);

long co_child_live(void); /* children of this thread that were not ended: tests assert 0 */

#endif
