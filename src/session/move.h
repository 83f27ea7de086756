/* SPDX-License-Identifier: MIT */
/* move.h - moves a client to the worker that serves its stream.
 *
 * This happens after its request and before it is in any list. The client is idle then: it has one
 * coroutine, no timer, nothing unsent, no source, and no pending callbacks. Its only pointers into
 * a worker are its env, its pipe and its configuration, which arrive() replaces.
 */
#ifndef SESSION_MOVE_H
#define SESSION_MOVE_H

#include "session/session.h"
#include "session/workers.h"

/* Returns the worker that serves the stream of s->names for this client: s->env->worker, or another
 * one to which it should move. From now on the client holds the stream's ownership, also while it
 * moves, until session_leave() or session_fini(). With one worker it returns that worker. */
unsigned session_goes_to(struct session *s, bool publishes);
/* Releases the ownership after an error before the move. */
void session_leave_owner(struct session *s);
/* Fails with ERR_STREAM_BUSY if a publisher could not move to the owner worker of its stream. */
err_t session_at_owner(const struct session *s) __attribute__((warn_unused_result));

/* Records whether the session publishes the stream, for queries of published streams. */
void session_publishes(const struct session *s, bool now);

/* How a moved session continues on the other worker. */
struct session_mover {
    const char *name; /* name of its coroutine there */
    /* Called on the other worker's thread before its coroutine starts; it belongs to that env now.
     * Does not yield. */
    err_t (*arrive)(void *session, struct session_env *env);
    co_fn *main;               /* the coroutine, with the id that it had here */
    void (*drop)(void *session); /* ends it there if arrive() failed */
};

/* Moves an idle session with a detached pipe. It belongs to the other worker from now on: the
 * calling coroutine must end without touching it. Does not yield. */
void session_move(struct session_env *env, unsigned to, const struct session_mover *how,
                  void *session);

#endif
