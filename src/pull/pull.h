/* SPDX-License-Identifier: MIT */
/* pull.h - a stream that the server fetches: a session that publishes it, in a coroutine that
 * retries.
 *
 * It holds the owner of the stream until it ends, so no other worker starts a second one.
 */
#ifndef PULL_PULL_H
#define PULL_PULL_H

#include "session/condition.h"
#include "session/publisher.h"
#include "sink/sink.h"

struct stream_owner;

struct pulls { /* All pulls of one kind on one worker; embedded at the start of the kind's own
                * sink. */
    struct sink sink;
    struct pull *list;
};

struct pull { /* One pull; embedded at the start of the kind's own structure. */
    struct pull *next;
    struct pulls *all;
    struct session session;     /* publishes while media arrive */
    struct session_publisher publisher;
    struct stream_owner *owner;          /* NULL: only one worker */
    struct condition condition; /* RUNNING while media arrive */
    char id[9];                 /* its id in lists */
};

/* Initializes the pull and takes ownership of the references of key and owner. */
void pull_init(struct pull *p, struct pulls *all, struct stream_key *key,
               struct stream_owner *owner);
/* Starts its coroutine; main() gets p and must call pull_fini() at its end. Returns false on
 * failure, which is logged. */
bool pull_start(struct pull *p, const char *name, co_fn *main) __attribute__((warn_unused_result));
void pull_unlink(struct pull *p); /* removes it from the list, if it is in one */
void pull_fini(struct pull *p);
/* Enters the stream as its publisher at the owner, which is this worker as long as the owner is
 * held. ERR_STREAM_BUSY: the process is shutting down. */
err_t pull_enter_owner(struct pull *p) __attribute__((warn_unused_result));

#endif
