/* SPDX-License-Identifier: MIT */
/* workers.h - the workers of the process: a thread each, with a scheduler, streams and clients of
 * its own. They share nothing that changes but what is here.
 *
 * What one wants of another goes by message: workers_post(), or, for a coroutine that can wait,
 * workers_call() and workers_each(). With one worker env->workers is NULL, and those call at once.
 */
#ifndef SESSION_WORKERS_H
#define SESSION_WORKERS_H

#include "co/mailbox.h"
#include "session/env.h"

#include <stdatomic.h>

struct stream_owners;
struct vhost_loads;

enum { WORKERS_MAX = 64, WORKERS_LINE = 64, WORKERS_COUNTERS = 704 };

/* Written by their worker, read by all: relaxed, and in a cache line of their own. */
struct worker_gauges {
    _Alignas(WORKERS_LINE) atomic_uint load; /* thousandths of a core, lately */
    atomic_uint connections, publishers, players, streams, replicas;
    atomic_ulong moved_in, moved_out;        /* sessions, so far */
    atomic_size_t memory;                    /* that its streams remember */
    atomic_size_t messages;                  /* bytes that RTMP peers have begun */
};

struct worker {
    struct co_mailbox mail;
    struct co_group calls;     /* of others: of that thread alone */
    struct session_env *env;   /* of that thread alone */
    struct worker_gauges gauges;
    /* What else is summed up over all, as of its last sample: of app/worker_counters.c alone. */
    atomic_ullong worker_counters[WORKERS_COUNTERS];
};

struct workers {
    unsigned n;
    struct stream_owners *stream_owners;                     /* which stream is at home where */
    struct vhost_loads *loads;               /* for the bounds of vhosts */
    _Alignas(WORKERS_LINE) atomic_uint connections; /* of the process, for max_connections */
    atomic_bool ending;                      /* nobody moves any more */
    void (*sample)(struct session_env *env); /* on its thread: publish its figures now; or NULL */
    atomic_ullong hooks;                     /* the number of the last callback */
    struct reject_counters_told refused;            /* to the log */
    struct worker v[WORKERS_MAX];
};

/* How many there are: 1 without env->workers. */
unsigned workers_count(const struct session_env *env);
/* The share of one worker in what the process may have, rounded up. */
unsigned workers_share(const struct session_env *env, int all);

void workers_post(struct workers *w, unsigned to, struct co_mail *m);

/* Others see how many publish and play here: after each change. */
void workers_note(const struct session_env *env);
/* A connection came to this process, or went from it; a client without one counts as one. */
void workers_connected(struct session_env *env);
void workers_disconnected(struct session_env *env);
/* So many there are. */
unsigned workers_connections(const struct session_env *env);

/* What is done for another worker: on its thread, in a coroutine, with its env. It may yield, and
 * changes nothing of the caller's but *arg, who waits meanwhile. No err_t, packet or source may be
 * left in *arg: bytes and numbers are. */
typedef void workers_fn(struct session_env *env, void *arg);
/* Have fn done by worker `to`, and wait until it is. Yields, also when the caller is asked to stop:
 * it waits on. */
void workers_call(struct session_env *env, unsigned to, workers_fn *fn, void *arg);
/* By all, side by side: fn runs on all threads at a time, with the same arg. */
void workers_all(struct session_env *env, workers_fn *fn, void *arg);
/* The same, and wait for no longer than that. False: it is not done yet, or the caller was asked to
 * stop; what it leaves in *arg, which must not be on the stack, is given to `drop` once it is. */
bool workers_ask(struct session_env *env, unsigned to, workers_fn *fn, void *arg,
                 void (*drop)(void *arg), co_usec patience) __attribute__((warn_unused_result));
/* By each, one after the other, in their order. */
void workers_each(struct session_env *env, workers_fn *fn, void *arg);
/* The first error of those that each worker wrote, for the caller; the others are freed. */
err_t workers_first_error(err_t errs[WORKERS_MAX]) __attribute__((warn_unused_result));

#endif
