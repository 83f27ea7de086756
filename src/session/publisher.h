/* SPDX-License-Identifier: MIT */
/* publisher.h - one that publishes: is let in, takes the place of its stream, is watched, leaves.
 *
 * No protocol here: the conversation reads and makes packets of what it reads, and tells of each
 * message and of each turn. Who is silent for too long, replaced, kicked, whom nobody watches, or
 * whose token is over is stopped with an error that says so (co_stop()).
 */
#ifndef SESSION_PUBLISHER_H
#define SESSION_PUBLISHER_H

#include "session/bandwidth.h"
#include "session/session.h"

struct session_publisher {
    struct co_timer timer;  /* looks whether it is silent */
    struct session *s;
    struct live_publisher place;
    uint64_t messages;      /* so far */
    co_usec message_at;     /* when the last one ended; bytes of one may come all the time */
    uint64_t bytes;         /* of its connection, at the last turn */
    uint64_t sampled_at;    /* messages at the last sample */
    struct serve_meter meter; /* for publish_kbps */
    co_usec warned_at;      /* that it sends more */
    bool called;            /* we called it: its silence is for who did */
    co_usec silence;        /* that is allowed; 0: what the vhost says of publishers */
    /* Its sample lines are of that kind; NULL: SAMPLED_PUBLISH, which needs no one else. */
    void (*log_sample)(struct session_publisher *p, co_usec now);
    enum sampled_kind sampled;
};

/* May it publish its stream, and is there room? By all that there is to ask, and then the stream is
 * its own: sinks begin, s->src is it. ERR_DENIED, ERR_REFER_DENIED, ERR_TOKEN, ERR_TOO_MANY,
 * ERR_STREAM_BUSY, ERR_REPLACED (by another one, meanwhile), and what asking ends by: then nothing
 * is left of it. Yields. */
err_t session_publisher_begin(struct session_publisher *p, struct session *s,
                              enum clients_type type) __attribute__((warn_unused_result));

/* The same of one that nobody asks about, since we called it for the configuration says so: a pull.
 * Backends are told. Who called it watches its silence. ERR_STREAM_BUSY. Yields. */
err_t session_publisher_join(struct session_publisher *p, struct session *s,
                             enum clients_type type) __attribute__((warn_unused_result));

/* It may be silent for so long, whatever the vhost says. */
void session_publisher_silence(struct session_publisher *p, co_usec allowed);
void session_publisher_first(struct session_publisher *p);
/* A message of it is complete. One of media, or data: from now on the shorter silence counts. */
static inline void session_publisher_spoke(struct session_publisher *p)
{
    p->message_at = co_now();
}
static inline void session_publisher_media(struct session_publisher *p)
{
    p->message_at = co_now();
    if (p->messages++ == 0)
        session_publisher_first(p);
}

/* After each read: applies the configuration (*changed), counts, makes the coroutine urgent while
 * somebody plays, and holds up one that sends more than it may. Yields then. */
err_t session_publisher_turn(struct session_publisher *p, bool *changed)
    __attribute__((warn_unused_result));

/* It publishes no more: sinks end. `why` is borrowed. Yields. */
void session_publisher_end(struct session_publisher *p, err_t why);

#endif
