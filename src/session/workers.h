/* SPDX-License-Identifier: MIT */
/* workers.h - the workers of the process, each a thread with its own scheduler, streams and
 * clients. They share only the mutable data in this file.
 *
 * Workers communicate by messages: workers_post(), or for a coroutine that can wait, workers_call()
 * and workers_each(). With one worker env->workers is NULL, and these functions call directly.
 */
#ifndef SESSION_WORKERS_H
#define SESSION_WORKERS_H

#include "co/mailbox.h"
#include "session/env.h"

#include <stdatomic.h>

struct stream_owners;
struct vhost_loads;

enum { WORKERS_MAX = 64, WORKERS_LINE = 64, WORKERS_COUNTERS = 704 };

/* Written by one worker and read by all, with relaxed atomics, in a separate cache line. */
struct worker_gauges {
    _Alignas(WORKERS_LINE) atomic_uint load; /* recent load, thousandths of a core */
    atomic_uint connections, publishers, players, streams, replicas;
    atomic_ulong moved_in, moved_out;        /* moved sessions */
    atomic_size_t memory;                    /* memory of its streams */
    atomic_size_t messages;                  /* bytes of incomplete RTMP messages */
};

struct worker {
    struct co_mailbox mail;
    struct co_group calls;     /* calls of other workers; used by that thread only */
    struct session_env *env;   /* used by that thread only */
    struct worker_gauges gauges;
    /* Counters at its last sample; private to app/worker_counters.c. */
    atomic_ullong worker_counters[WORKERS_COUNTERS];
};

struct workers {
    unsigned n;
    struct stream_owners *stream_owners;     /* directory of owner workers */
    struct vhost_loads *loads;               /* for bandwidth limits of vhosts */
    /* connections of the process, for max_connections */
    _Alignas(WORKERS_LINE) atomic_uint connections;
    atomic_bool ending;                      /* clients no longer move */
    void (*sample)(struct session_env *env); /* publishes the counters of a worker; or NULL */
    atomic_ullong hooks;                     /* number of the last callback */
    struct reject_counters_logged refused;     /* refusals already logged */
    struct worker v[WORKERS_MAX];
};

/* Number of workers: 1 without env->workers. */
unsigned workers_count(const struct session_env *env);
/* The share of one worker in a limit of the process, rounded up. */
unsigned workers_share(const struct session_env *env, int all);

void workers_post(struct workers *w, unsigned to, struct co_mail *m);

/* Publishes the number of publishers and players here; call it after each change. */
void workers_note(const struct session_env *env);
/* Count connections of the process; a client without one counts as one. */
void workers_connected(struct session_env *env);
void workers_disconnected(struct session_env *env);
/* Number of connections of the process. */
unsigned workers_connections(const struct session_env *env);

/* A function that runs on another worker's thread, in a coroutine, with its env. It may yield, and
 * only changes *arg of the caller, which waits meanwhile. *arg may return bytes and numbers, but no
 * err_t, packet or source. */
typedef void workers_fn(struct session_env *env, void *arg);
/* Runs fn on worker `to` and waits for it, even if the caller is stopped. Yields. */
void workers_call(struct session_env *env, unsigned to, workers_fn *fn, void *arg);
/* Runs fn on all workers in parallel, with the same arg. */
void workers_all(struct session_env *env, workers_fn *fn, void *arg);
/* Like workers_call(), but waits at most `patience`. Returns false if it is not done yet or if the
 * caller was stopped; then `drop` is called with arg when it is done, so arg must not be on the
 * stack. */
bool workers_ask(struct session_env *env, unsigned to, workers_fn *fn, void *arg,
                 void (*drop)(void *arg), co_usec patience) __attribute__((warn_unused_result));
/* Runs fn on each worker, one after the other, in order. */
void workers_each(struct session_env *env, workers_fn *fn, void *arg);
/* Returns the first of the errors written by workers, and frees the others. */
err_t workers_first_error(err_t errs[WORKERS_MAX]) __attribute__((warn_unused_result));

#endif
