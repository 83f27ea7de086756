/* SPDX-License-Identifier: MIT */
/* workers.h - what the API and the metrics tell of a worker. Nothing here waits for one. */
#ifndef APP_API_WORKERS_H
#define APP_API_WORKERS_H

#include "app/api/api.h"

struct api_worker {
    int thread;         /* its id; 0: not known yet */
    unsigned load;      /* thousandths of a core */
    unsigned connections, publishers, players, streams, replicas;
    uint64_t moved_in, moved_out;
    co_usec late;       /* of timers, mean of the last second */
    co_usec mailbox;    /* how long its oldest message waits */
    co_usec age;        /* of all that is said here */
};
void api_worker_look(const struct api_parts *of, unsigned worker, struct api_worker *out);

#endif
