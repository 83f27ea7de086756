/* SPDX-License-Identifier: MIT */
/* collect.h - lists the streams of all workers, each stream once.
 *
 * A stream with many players is on several workers: on its owner worker, and as replicas. Each
 * worker returns copies of its rows; rows of the same stream are merged into that of the owner
 * worker. The owner worker returns further details by the row's name.
 */
#ifndef APP_API_COLLECT_H
#define APP_API_COLLECT_H

#include "session/clients.h"
#include "session/workers.h"

struct collect_row {
    const char *name;     /* "vhost/app/stream" */
    unsigned vhost_n, app_n;
    uint32_t hash;
    uint8_t worker;
    bool named;           /* a client has given its name */
    bool at_home;         /* on its owner worker; else a replica */
    bool publishes;       /* its publisher is a client of that worker */
    bool file;            /* a file; each worker with players of it has a row */
    bool merged;          /* merged into the row of another worker */
    unsigned clients, forwards;
    int in_kbps, out_kbps;
    const struct live_source_stat *stat; /* NULL: not requested */
    uint64_t out_bytes, dropped;         /* set for replicas and files only */
    struct collect_more {  /* sums of the same stream on other workers */
        unsigned clients, forwards, replicas;
        uint64_t out_bytes, dropped;
        int out_kbps;
    } more;
};

/* The rows of one worker. */
struct collect_part {
    bool want_stats;
    struct live_source_stat *stats;
    struct collect_row *v;
    size_t n;
    char *names;
};

struct collect {
    struct collect_part *parts[WORKERS_MAX]; /* NULL: that worker did not respond in time */
    unsigned n_parts;
    struct collect_row **shown; /* rows with clients, worker by worker, files last */
    size_t n, live;            /* number of shown rows, with and without files */
};

/* Queries all workers; waits up to `patience` for each. Yields. */
void collect_streams(struct collect *g, struct session_env *env, bool stats, co_usec patience);
void collect_free(struct collect *g);
/* Iterates over all rows except merged ones, shown or not; start with NULL. */
const struct collect_row *collect_next(const struct collect *g, const struct collect_row *row);

#endif
