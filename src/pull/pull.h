/* SPDX-License-Identifier: MIT */
/* pull.h - a stream that the server fetches: a session that publishes it, in a coroutine that tries
 * again and again. It holds the stream's home until it ends, so no second one begins elsewhere. */
#ifndef PULL_PULL_H
#define PULL_PULL_H

#include "session/condition.h"
#include "session/publisher.h"
#include "sink/sink.h"

struct stream_owner;

struct pulls { /* of one kind and worker; the beginning of that sink's own structure */
    struct sink sink;
    struct pull *list;
};

struct pull { /* the beginning of what it has of its own */
    struct pull *next;
    struct pulls *all;
    struct session session;     /* publishes while media come */
    struct session_publisher publisher;
    struct stream_owner *owner;          /* NULL: one worker */
    struct condition condition; /* it runs while media come */
    char id[9];                 /* by which lists know it */
};

/* Takes over the references of the key and of the home. */
void pull_init(struct pull *p, struct pulls *all, struct stream_key *key,
               struct stream_owner *owner);
/* Its coroutine begins; main() gets p, and calls pull_fini() in the end. False: it cannot, the log
 * says why. */
bool pull_start(struct pull *p, const char *name, co_fn *main) __attribute__((warn_unused_result));
void pull_unlink(struct pull *p); /* it leaves the list; fine if it is in none */
void pull_fini(struct pull *p);
/* Enter the home, which is this worker while it is held. ERR_STREAM_BUSY: the process ends. */
err_t pull_enter_home(struct pull *p) __attribute__((warn_unused_result));

#endif
