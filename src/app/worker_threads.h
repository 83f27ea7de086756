/* SPDX-License-Identifier: MIT */
/* worker_threads.h - the threads of all workers but the first. */
#ifndef APP_WORKER_THREADS_H
#define APP_WORKER_THREADS_H

#include "base/err.h"

struct worker_threads; /* owned by the server of the first worker */
struct server;
struct workers;

/* Creates the table of n workers and the directory of stream owners. */
struct workers *worker_threads_table_new(unsigned n);
void worker_threads_table_free(struct workers *w); /* all threads have ended */

/* `first` is worker 0, which runs on the calling thread. */
struct worker_threads *worker_threads_new(struct server *first);
/* Starts the threads and waits until each has a scheduler and a server, which does not listen yet.
 * Yields. */
err_t worker_threads_start(struct worker_threads *c) __attribute__((warn_unused_result));
/* Ends the connections of all workers, including the first; then the other workers, in parallel.
 * The server of the first worker remains. Yields. */
void worker_threads_stop(struct worker_threads *c);
/* Waits until the threads have ended. Blocks; call it at the end of the program, when the server of
 * the first worker was freed. */
void worker_threads_free(struct worker_threads *c, struct workers *w);

#endif
