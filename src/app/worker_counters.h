/* SPDX-License-Identifier: MIT */
/* worker_counters.h - counters of each worker and their sum over the process.
 *
 * Each worker publishes its counters once a second, so summing them never waits, even if a worker
 * is stalled. The calling worker's own counters are always current.
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

enum { TABLE_WORDS = 240 }; /* room for the counter tables of all protocols */

/* Consists of 64-bit words only. The members from held_by on are not summed. */
struct worker_counters {
    uint64_t connections, publishers, players, streams, replicas;
    uint64_t at_home;                          /* streams without replicas */
    uint64_t moved_in, moved_out;              /* sessions moved from and to other workers */
    struct clients_total types[CLIENTS_TYPES];
    uint64_t refused[REJECT_KINDS];
    struct hooks_stat hooks[HOOKS_KINDS];
    uint64_t hooks_waiting;
    struct tokens_stat tokens[CONF_PLAY + 1];
    uint64_t memory, squeezed, squeezed_bytes; /* memory of streams, see live_memory */
    uint64_t messages, evicted;                /* incomplete RTMP messages */
    uint64_t children[JOB_KINDS][JOB_STATES], forwards[2]; /* connecting, publishing */
    struct vod_stat vod;                       /* files on demand */
    uint64_t services[PROTOCOLS];              /* services in the table; 0: the protocol is off */
    uint64_t counters[TABLE_WORDS];            /* the tables of all protocols, concatenated */
    uint64_t cpu;                              /* CPU time of the thread, microseconds */
    uint64_t coroutines, switches, held, holds;
    /* Live objects. One worker may free what another created, so the count of a single worker may
     * wrap below 0; the sum is right. */
    uint64_t errors, packets, processes, snapshots, sources;
    uint64_t late[9], late_us;                 /* see struct co_lateness */
    struct {
        uint64_t name, count, longest;         /* see struct co_stalls */
    } held_by[CO_STALLS_NAMES];
    uint64_t thread;                           /* thread id */
    uint64_t late_now;                         /* mean timer lateness of the last second, us */
    uint64_t taken_at;                         /* co_clock() */
};

/* The sources of the calling worker's counters. */
struct worker_counters_of {
    struct session_env *env;
    const struct sink *forwards, *children, *files; /* NULL: there are none */
    unsigned connections;
};

/* worker_counters_sample() measures the timer lateness and publishes; each worker calls it once a
 * second. worker_counters_publish() only publishes, at any other time. */
void worker_counters_sample(const struct worker_counters_of *of);
void worker_counters_publish(const struct worker_counters_of *of);
/* Makes all workers publish now, except stalled ones. Yields for some milliseconds. */
void worker_counters_refresh(const struct worker_counters_of *of);
/* Sums all workers. held_by is merged by name; thread, late_now and taken_at are the caller's. */
void worker_counters_sum(const struct worker_counters_of *of, struct worker_counters *out);
/* Reads the counters of one worker; all zero before its first sample. */
void worker_counters_one(const struct worker_counters_of *of, unsigned worker,
                         struct worker_counters *out);
/* Returns the table of protocol *i, or of the next enabled one, and its counters in f. Returns NULL
 * after the last. */
const struct counter_table *worker_counters_table(const struct worker_counters *f, unsigned *i,
                                          const void **counters);
/* Returns the name of stall number i, or NULL. */
const char *worker_counters_held_by(const struct worker_counters *f, size_t i);

#endif
