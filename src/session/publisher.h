/* SPDX-License-Identifier: MIT */
/* publisher.h - the publisher side of a session: authorization, the claim of the stream, timeouts,
 * end.
 *
 * It is independent of the protocol, which reads messages, turns them into packets, and reports
 * each message and each turn. A publisher that is silent for too long, replaced, kicked, without
 * players for too long, or whose token expired is stopped with an error that says so (co_stop()).
 */
#ifndef SESSION_PUBLISHER_H
#define SESSION_PUBLISHER_H

#include "session/bandwidth.h"
#include "session/session.h"

struct session_publisher {
    struct co_timer timer;  /* checks for silence */
    struct session *s;
    struct live_publisher place;
    uint64_t messages;      /* received messages */
    co_usec message_at;     /* when the last message was complete */
    uint64_t bytes;         /* received bytes at the last turn */
    uint64_t sampled_at;    /* messages at the last sample */
    struct session_meter meter; /* for publish_kbps */
    co_usec warned_at;      /* when exceeding it was last logged */
    bool called;            /* a pull, which checks for silence itself */
    co_usec silence;        /* allowed silence; 0: as configured for the vhost */
    /* Logs sample lines of kind `sampled`; NULL: SAMPLED_PUBLISH with the default text. */
    void (*log_sample)(struct session_publisher *p, co_usec now);
    enum sampled_kind sampled;
};

/* Authorizes the publisher, checks the limits and claims the stream: sinks start, and s->src is the
 * stream. ERR_DENIED, ERR_REFER_DENIED, ERR_TOKEN, ERR_TOO_MANY, ERR_STREAM_BUSY, ERR_REPLACED (by
 * another publisher meanwhile), or an error of a callback: then it has no effect. Yields. */
err_t session_publisher_begin(struct session_publisher *p, struct session *s,
                              enum clients_type type) __attribute__((warn_unused_result));

/* The same without authorization, for a configured pull. Backends are notified. The pull checks for
 * silence itself. ERR_STREAM_BUSY. Yields. */
err_t session_publisher_join(struct session_publisher *p, struct session *s,
                             enum clients_type type) __attribute__((warn_unused_result));

/* Sets the allowed silence, regardless of the vhost. */
void session_publisher_silence(struct session_publisher *p, co_usec allowed);
void session_publisher_first(struct session_publisher *p);
/* A message is complete. After the first one of media or data, the shorter timeout applies. */
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

/* Call it after each read: applies the configuration (*changed), counts, makes the coroutine urgent
 * while the stream has players, and pauses a publisher that exceeds its rate (yields then). */
err_t session_publisher_turn(struct session_publisher *p, bool *changed)
    __attribute__((warn_unused_result));

/* Ends publishing and the sinks. `why` is borrowed. Yields. */
void session_publisher_end(struct session_publisher *p, err_t why);

#endif
