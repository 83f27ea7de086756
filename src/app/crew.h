/* SPDX-License-Identifier: MIT */
/* crew.h - the threads of all workers but the first. */
#ifndef APP_CREW_H
#define APP_CREW_H

#include "base/err.h"

struct crew; /* owned by the server of the first worker */
struct server;
struct workers;

/* Room for n workers, and where their streams are at home. */
struct workers *crew_workers_new(unsigned n);
void crew_workers_free(struct workers *w); /* all threads have ended */

/* `first` is worker 0, of the thread that calls. */
struct crew *crew_new(struct server *first);
/* Start the threads, and wait until each has a scheduler and a server, which does not listen yet.
 * Yields. */
err_t crew_start(struct crew *c) __attribute__((warn_unused_result));
/* All connections of all workers, the first one's too, end; then the other workers do, side by
 * side. What is left is the first one's server. Yields. */
void crew_stop(struct crew *c);
/* Wait until the threads have ended. Blocks, at the end of the program; the first one's server is
 * gone already. */
void crew_free(struct crew *c, struct workers *w);

#endif
