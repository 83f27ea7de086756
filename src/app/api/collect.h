/* SPDX-License-Identifier: MIT */
/* collect.h - the streams of all workers, each of them once.
 *
 * A stream with many players is at more than one worker: at its home, and as replicas. Each worker
 * says what it has, as copies; what is the same stream becomes one row, its home's, with what the
 * others add to it. The rest is asked of the home by the row's name.
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
    bool named;           /* somebody said what it is called */
    bool at_home;         /* else it is a replica */
    bool publishes;       /* its publisher is a client of that worker */
    bool file;            /* the name of one; of each worker that has players of it */
    bool merged;          /* into that of another worker */
    unsigned clients, forwards;
    int in_kbps, out_kbps;
    const struct live_source_stat *stat; /* NULL: it was not asked for */
    uint64_t out_bytes, dropped;         /* of replicas and files alone */
    struct collect_more {  /* of the same stream at others */
        unsigned clients, forwards, replicas;
        uint64_t out_bytes, dropped;
        int out_kbps;
    } more;
};

/* Those of a worker, as it has them. */
struct collect_part {
    bool want_stats;
    struct live_source_stat *stats;
    struct collect_row *v;
    size_t n;
    char *names;
};

struct collect {
    struct collect_part *parts[WORKERS_MAX]; /* NULL: that worker did not answer in time */
    unsigned n_parts;
    struct collect_row **shown; /* those with clients; worker by worker, files last */
    size_t n, live;            /* of them; and without files */
};

/* Ask all workers and wait for each so long at most. Yields. */
void collect_streams(struct collect *g, struct session_env *env, bool stats, co_usec patience);
void collect_free(struct collect *g);
/* All rows but the merged ones, shown or not; NULL is before the first. */
const struct collect_row *collect_next(const struct collect *g, const struct collect_row *row);

#endif
