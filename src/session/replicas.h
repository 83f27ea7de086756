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

/* The worker found or made this source for a client: it is in its stream's home from now on, and if
 * that is elsewhere a replica of the source there, but not while the process ends. Only with
 * several workers. Does not yield. */
void replicas_own(struct session_env *env, struct live_source *src);
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
