/* SPDX-License-Identifier: MIT */
/* child.h - child processes for coroutines.
 *
 * A child leads a process group of its own, so it and whatever it starts end together; the kernel
 * kills it when we die without a word, or when the thread that started it does: all of a child is
 * for that thread, which ends its children before itself. It begins with no descriptor of ours but
 * its three, no signal ignored or blocked, and nothing to read. Its end is seen through a
 * descriptor, so no SIGCHLD can get lost and nobody else's children are touched.
 *
 * To start one stops the thread until the program is loaded: about a millisecond, however much
 * memory we have.
 */
#ifndef CO_OS_CHILD_H
#define CO_OS_CHILD_H

#include "base/err.h"
#include "co/co.h"

struct co_child; /* owned by who started it, who ends it by co_child_end() */

struct co_child_setup {
    const char *const *argv; /* NULL at the end. A name without '/' is looked for in PATH */
    const char *const *env;  /* its environment, NULL at the end; NULL: none, never ours */
    const char *out, *err;   /* files that its stdout and stderr are appended to; NULL: said() */
    /* What it wrote: any piece of text, not by lines. Must not yield. NULL: it is thrown away. */
    void (*said)(void *arg, const char *text, size_t size);
    void *arg;
};

/* Start one. ERR_NO_FILE: there is no such program or file, or it may not be used; ERR_SYSTEM.
 * Does not yield. */
err_t co_child_start(struct co_child **out, const struct co_child_setup *setup)
    __attribute__((warn_unused_result));
/* Wait until it has ended, and take in what it says. *ended is false when the time was up first.
 * ERR_STOPPED: who waits was asked to stop. Yields. */
err_t co_child_wait(struct co_child *c, co_usec timeout, bool *ended)
    __attribute__((warn_unused_result));
/* Ask its group to end (SIGTERM), wait for at most `patience`, then kill what is left of the
 * group; free it. How it ended goes to `how` (NULL: nobody asks): "runs", "ended", "status 1" or
 * "signal 9". Also works, and takes its time, in a coroutine that was asked to stop. c may be
 * NULL. Yields. */
void co_child_end(struct co_child *c, co_usec patience, char *how, size_t size);

int co_child_pid(const struct co_child *c);

long co_child_live(void); /* children that were not ended: tests assert 0; of this thread */

#endif
