/* SPDX-License-Identifier: MIT */
/* worker_counters.h - what the process counts, summed up over its workers.
 *
 * Each worker publishes its own counts once a second, so who sums them up waits for nobody: also
 * while one is held up. With one worker they are those of this moment.
 */
#ifndef APP_WORKER_COUNTERS_H
#define APP_WORKER_COUNTERS_H

#include "base/counters.h"
#include "co/stalls.h"
#include "session/clients.h"
#include "session/hooks.h"
#include "session/tokens.h"
#include "session/workers.h"
#include "sink/program/job.h"
#include "vod/vod.h"

struct sink;

enum { FIGURES_WORDS = 240 }; /* of the tables of all protocols */

/* Words alone, and all but the last four are sums. */
struct worker_counters {
    uint64_t connections, publishers, players, streams, replicas;
    uint64_t at_home;                          /* streams that are no replicas */
    uint64_t moved_in, moved_out;              /* sessions from other workers, and to them */
    struct clients_total types[CLIENTS_TYPES];
    uint64_t refused[REJECT_KINDS];
    struct hooks_stat hooks[HOOKS_KINDS];
    uint64_t hooks_waiting;
    struct tokens_stat tokens[CONF_PLAY + 1];
    uint64_t memory, squeezed, squeezed_bytes; /* of streams */
    uint64_t messages, evicted;                /* RTMP messages that are not complete */
    uint64_t children[JOB_KINDS][JOB_STATES], forwards[2]; /* connecting, publishing */
    struct vod_stat vod;                       /* files on demand */
    uint64_t services[PROTOCOLS];              /* that fill the table; 0: the protocol is off */
    uint64_t counters[FIGURES_WORDS];          /* of all tables, one after another */
    uint64_t cpu;                              /* of its thread, microseconds */
    uint64_t coroutines, switches, held, holds;
    /* Objects that live. What one worker made another may free: of one alone it may be below 0, and
     * then wraps around; the sum is right. */
    uint64_t errors, packets, processes, snapshots, sources;
    uint64_t late[9], late_us;                 /* as struct co_lateness */
    struct {
        uint64_t name, count, longest;         /* as struct co_stalls */
    } held_by[CO_STALLS_NAMES];
    uint64_t thread;                           /* its id */
    uint64_t late_now;                         /* mean of the last second, microseconds */
    uint64_t taken_at;                         /* co_clock() */
};

/* Whose they are: of the worker that calls. */
struct worker_counters_of {
    struct session_env *env;
    const struct sink *forwards, *children, *files; /* NULL: there are none */
    unsigned connections;
};

/* Look, and with more than one worker let the others know: once a second, by each. The other one
 * does so in between. */
void worker_counters_sample(const struct worker_counters_of *of);
void worker_counters_publish(const struct worker_counters_of *of);
/* The same of the others, now: those that are not held up have done so behind it. Yields, for some
 * milliseconds. */
void worker_counters_refresh(const struct worker_counters_of *of);
/* All of them together. held_by is merged by name; thread, late_now and taken_at are ours. */
void worker_counters_sum(const struct worker_counters_of *of, struct worker_counters *out);
/* Those of one worker; zeros before its first sample. */
void worker_counters_one(const struct worker_counters_of *of, unsigned worker,
                         struct worker_counters *out);
/* The table of protocol *i, or of the next one that is served, and its counters in f. NULL: there
 * are no more. */
const struct counter_table *worker_counters_table(const struct worker_counters *f, unsigned *i,
                                          const void **counters);
/* The name of a hold, or NULL. */
const char *worker_counters_held_by(const struct worker_counters *f, size_t i);

#endif
