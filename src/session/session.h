/* SPDX-License-Identifier: MIT */
/* session.h - the session of a client, for all protocols.
 *
 * It has the applied configuration, the stream, the client's identity, its entry in the list of
 * clients with its bit rates, its callbacks and its final log line. Publishers add publisher.h,
 * players add player.h, and protocols add their messages.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "base/kbps.h"
#include "co/net/io.h"
#include "session/missing_stream.h"
#include "session/clients.h"
#include "session/hooks.h"

struct stream_owner;

/* The expiry of a client's token. */
struct session_expiry { /* zero: never */
    struct co_timer timer;
    struct co *co;
    int64_t ends; /* seconds since 1970; 0: never */
};

struct session {
    struct session_stream names; /* its stream and identity; the protocol owns these strings */
    const char *token;           /* token from its Authorization header; or NULL */
    const char *id;              /* id in the list of clients; NULL: that of its coroutine */
    struct client entry;         /* entry in that list, while it publishes or plays */
    struct hooks_line *line;     /* its ordered callbacks */
    struct session_expiry term;
    int64_t ends;                /* expiry of its token, seconds since 1970; 0: never */
    co_usec began_at;
    co_usec entered_at;          /* when it was admitted to publish or play; bytes before that, */
    uint64_t entered_in, entered_out;
    uint64_t left_out;           /* and packets dropped since then, because it was slow */
    char *did;                   /* summary for its last log line; NULL: none */
    struct kbps in_kbps, out_kbps;
    uint64_t in, out;            /* bytes, if it has no connection of its own */
    const struct live_sender *sender; /* sends to a player over its connection; or NULL */
    /* For a player without a sender: returns its state, lag and dropped packets. NULL: unknown. */
    void (*playing)(const struct session *s, struct live_sender_stat *out);
    struct session_seen {        /* set by session_play_check(), once a second */
        enum live_sender_state state;
        /* start of the state; total time that its window was full before */
        co_usec at, full;
    } seen;
    struct co *co;               /* its coroutine, stopped by a kick; NULL: see on_kick */
    void (*on_kick)(struct session *s);
    const struct clients_detail *detail; /* details of its protocol; or NULL */
    struct missing_stream missing; /* while it plays a stream without a publisher */
    struct stream_owner *owner;  /* held ownership of its stream: session/move.h */
    bool plays;                  /* counted there as a player */
    bool on_demand;              /* it plays a file; the stream is only a name */
    /* used at every turn of a publisher; adjacent and last, because serve/rtmp/publish.c prefetches
     * them */
    struct session_env *env;
    struct live_source *src;     /* owns a reference while it publishes or plays */
    struct io *io;               /* NULL: it sends requests over any connection */
    struct conf *conf;           /* applied configuration, with a reference */
    const struct conf_vhost *vhost; /* its vhost in conf */
    unsigned generation;         /* generation of conf */
};

/* Initializes a session with the configuration in force. */
void session_init(struct session *s, struct session_env *env, struct io *io);
/* The calling coroutine serves it from now on; starts rates and times. */
void session_begin(struct session *s);
void session_fini(struct session *s);

/* Sets the requested stream: applies the configuration in force, finds the vhost and creates the
 * key. The names may be the session's own. On ERR_NO_VHOST and ERR_VHOST_DISABLED nothing changes.
 * */
err_t session_find_stream(struct session *s, const char *vhost, const char *app, const char *name)
    __attribute__((warn_unused_result));
/* Call it once per turn: applies a changed configuration. *changed: it changed and still has the
 * vhost. */
err_t session_apply(struct session *s, bool *changed) __attribute__((warn_unused_result));

/* Sets s->src to its stream, creating it if needed; session_leave() releases it. */
void session_source(struct session *s);
/* The list of clients: first the session waits for admission and can be kicked, then it is
 * admitted, then it leaves its stream and the list; `why` is borrowed. A session that never waited
 * may leave, too. */
void session_wait(struct session *s, enum clients_type type);
void session_enter(struct session *s);
void session_leave(struct session *s, err_t why);
/* Logs the last line of a session with what it last published or played and why it ended. Frees
 * `why`. Call it after session_leave(). */
void session_log_end(const struct session *s, err_t *why);
/* Logs the same line if the session continues, such as a forward that reconnects, or if the error
 * is still needed: `why` is borrowed. Does nothing if it neither published nor played since the
 * last line. */
void session_log_did(struct session *s, err_t why);
/* Samples its bit rates; call it every few seconds. */
void session_count(struct session *s, co_usec now);
/* The same; returns true if the caller must log the sample line of this kind. */
bool session_sample(struct session *s, enum sampled_kind kind, co_usec now);

/* Stops the calling coroutine with ERR_EXPIRED at that time. */
void session_expiry_begin(struct session_expiry *t, int64_t ends);
void session_expiry_end(struct session_expiry *t); /* cancels it */

/* Returns true if the time has passed. */
bool session_has_expired(int64_t ends);
/* Returns ERR_EXPIRED, for sessions that are checked instead of stopped. */
err_t session_expiry_error(void) __attribute__((warn_unused_result));

/* Reads the sending statistics. Returns false if it is not a player, or one that polls. */
bool session_play_stat(const struct session *s, struct live_sender_stat *out);

/* Send callbacks about its stream. session_ask() waits for the response and may yield for long. */
err_t session_ask(struct session *s, enum hooks_action action) __attribute__((warn_unused_result));
void session_notify(struct session *s, enum hooks_action action);
/* Returns the event of a callback about it. */
struct hooks_event session_event(const struct session *s);

#endif
