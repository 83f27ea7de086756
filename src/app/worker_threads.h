/* SPDX-License-Identifier: MIT */
/* worker_threads.h - the threads of all workers but the first. */
#ifndef APP_WORKER_THREADS_H
#define APP_WORKER_THREADS_H

#include "base/err.h"

struct worker_threads; /* owned by the server of the first worker */
struct server;
struct workers;

/* Room for n workers, and where their streams are at home. */
struct workers *worker_threads_table_new(unsigned n);
void worker_threads_table_free(struct workers *w); /* all threads have ended */

/* `first` is worker 0, of the thread that calls. */
struct worker_threads *worker_threads_new(struct server *first);
/* Start the threads, and wait until each has a scheduler and a server, which does not listen yet.
 * Yields. */
err_t worker_threads_start(struct worker_threads *c) __attribute__((warn_unused_result));
/* All connections of all workers, the first one's too, end; then the other workers do, side by
 * side. What is left is the first one's server. Yields. */
void worker_threads_stop(struct worker_threads *c);
/* Wait until the threads have ended. Blocks, at the end of the program; the first one's server is
 * gone already. */
void worker_threads_free(struct worker_threads *c, struct workers *w);

#endif
