/* SPDX-License-Identifier: MIT */
/* move.h - a client goes to the worker where its stream is to be served.
 *
 * Once it has said what it wants, and before it is in any list. It is at rest then: one coroutine,
 * no timer, nothing unsent, no source, its callbacks told. Its memory has no pointer into a worker
 * but its env, its pipe and its snapshot, which arrive() replaces; all else goes along.
 */
#ifndef SESSION_MOVE_H
#define SESSION_MOVE_H

#include "session/session.h"
#include "session/workers.h"

/* Where the stream of s->names is to be served for it: s->env->worker, or another worker, to which
 * it should go. It is in the stream's home from now on, and stays there on its way, until
 * session_leave() or session_fini(). With one worker always that one. */
unsigned session_goes_to(struct session *s, bool publishes);
/* Of an error before it was there: it is in no home. */
void session_leave_owner(struct session *s);
/* ERR_STREAM_BUSY: it publishes, and could not go to where its stream is at home. */
err_t session_at_owner(const struct session *s) __attribute__((warn_unused_result));

/* It publishes, or no longer: others may ask for a stream that somebody publishes. */
void session_publishes(const struct session *s, bool now);

/* How a session that is on its way goes on at the other worker. */
struct session_mover {
    const char *name; /* of its coroutine there */
    /* On the other worker's thread, before its coroutine: it is that env's now. Does not yield. */
    err_t (*arrive)(void *session, struct session_env *env);
    co_fn *main;               /* the coroutine, with the id that it had here */
    void (*drop)(void *session); /* that could not be done: there it ends */
};

/* It is at rest, its pipe is detached. From now on it is the other worker's: the coroutine that
 * calls ends without touching it. Does not yield. */
void session_move(struct session_env *env, unsigned to, const struct session_mover *how,
                  void *session);

#endif
