/* SPDX-License-Identifier: MIT */
/* replicas.h - replicas of other workers' streams that have players here.
 *
 * If a worker creates a source for a stream that another worker owns, the source becomes a replica:
 * it requests a tap (live/tap.h) from the owner worker by message and pushes the packets that
 * arrive through it. Players wait meanwhile, as for a publisher. When the source had no other user
 * for some seconds, the replica closes the tap and frees the source, unless a client comes before
 * the owner worker has responded.
 *
 * The owner worker keeps its source while a replica has a tap.
 */
#ifndef SESSION_REPLICAS_H
#define SESSION_REPLICAS_H

#include "session/env.h"

/* Call it when a worker found or created a source for a client: registers it with the stream's
 * owner, and makes it a replica if another worker owns the stream (except while the process quits).
 * Only with several workers. Does not yield. */
void replicas_own(struct session_env *env, struct live_source *src);
/* Closes all replicas and waits for the owner workers, when no client can come any more. Yields. */
void replicas_close_all(struct session_env *env);

struct replica;

struct replicas { /* all replicas of a worker; public for tests only */
    struct replica *first;
    unsigned n;
    bool closing;          /* all are being closed */
    struct co *waiter;     /* waits for that */
    co_usec keep, look;    /* how long an unused one stays; interval of checks */
};

#endif
