/* SPDX-License-Identifier: MIT */
/* replicas.h - streams that are at home at another worker and have players here, too.
 *
 * A source that a worker makes for a stream of another home becomes a replica: it asks the home for
 * a tap (live/tap.h), by message, and pushes what that brings. Who comes meanwhile waits as for a
 * publisher. When nobody else has had the source for some seconds the replica gives the tap back,
 * and the source goes, unless somebody came until the home has answered.
 *
 * The home has its source for as long as a replica has a tap.
 */
#ifndef SESSION_REPLICAS_H
#define SESSION_REPLICAS_H

#include "session/env.h"

/* `src` is of this worker, which has just made it; it is in the stream's home, at worker `home`,
 * for as long as it is there. The replica has a reference of its own. Not while the process ends.
 * Does not yield. */
void replicas_open(struct session_env *env, struct live_source *src, unsigned home);
/* None is left: each home has answered. Nobody comes any more. Yields. */
void replicas_close_all(struct session_env *env);

struct replica;

struct replicas { /* of a worker; for tests alone */
    struct replica *first;
    unsigned n;
    bool closing;          /* all of them */
    struct co *waiter;     /* for that */
    co_usec keep, look;    /* how long one stays that nobody has; how often it is looked after */
};

#endif
