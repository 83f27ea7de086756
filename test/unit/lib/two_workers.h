/* SPDX-License-Identifier: MIT */
/* two_workers.h - two workers in one test: the first is the test's thread, the second has a
 * scheduler and a thread of its own. They have mailboxes, streams and clients, and nothing else.
 */
#ifndef TWO_WORKERS_H
#define TWO_WORKERS_H

#include "conf_mem.h"
#include "session/clients.h"
#include "session/stream_owners.h"
#include "session/replicas.h"
#include "session/workers.h"

#include <pthread.h>
#include <semaphore.h>

extern struct workers two;
extern struct session_env two_env[2];

/* After co_init(). */
void two_begin(const char *conf);

/* All clients must have left. */
void two_end(void);

/* ---- clients of both */

struct two_guest {
    struct client client;
    struct live_source *src;
    char id[9], stream[32];  /* its own, and that of its stream */
    enum clients_type type;
    unsigned kicked;
};

/* workers_fn: the client comes, or leaves. */
void two_enter(struct session_env *env, void *guest);

void two_leave(struct session_env *env, void *guest);

#endif
