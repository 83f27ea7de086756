/* SPDX-License-Identifier: MIT */
/* session.h - one conversation: what every client of a stream has, whatever it speaks.
 *
 * The configuration that is applied to it, its stream and who it is, its entry in the list of
 * clients with its bit rates, its callbacks, and why it ends. What publishes adds publisher.h to
 * it, what plays player.h; a protocol adds its words.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include "base/kbps.h"
#include "co/net/io.h"
#include "session/missing_stream.h"
#include "session/clients.h"
#include "session/hooks.h"

struct stream_owner;

/* How long a client may stay by the token that it showed. */
struct serve_term { /* zeroed: it ends never */
    struct co_timer timer;
    struct co *co;
    int64_t ends; /* seconds since 1970; 0: never */
};

struct session {
    struct session_stream names; /* its stream, and who it is: those strings are the protocol's */
    const char *token;           /* that its Authorization had; NULL: none */
    const char *id;              /* in the list of clients; NULL: that of its coroutine */
    struct client entry;         /* in that list, while it publishes or plays */
    struct hooks_line *line;     /* its callbacks, in order */
    struct serve_term term;
    int64_t ends;                /* its token, seconds since 1970; 0: never */
    co_usec began_at;
    co_usec entered_at;          /* when it was let in to publish or play; what went before, */
    uint64_t entered_in, entered_out;
    uint64_t left_out;           /* and packets that it was too slow for, since then */
    char *did;                   /* what it did at last, for its last line; NULL: nothing */
    struct kbps in_kbps, out_kbps;
    uint64_t in, out;            /* bytes, where it has no connection of its own */
    const struct live_sender *sender; /* sends to it, while it plays over its connection; or NULL */
    /* Of a player without a sender: its state, lag and dropped packets now. NULL: not known. */
    void (*playing)(const struct session *s, struct live_sender_stat *out);
    struct session_seen {        /* by session_play_check(), once a second */
        enum live_sender_state state;
        co_usec at, full;        /* since when; how long its window was full before that */
    } seen;
    struct co *co;               /* works for it, and is stopped to kick it; NULL: see on_kick */
    void (*on_kick)(struct session *s);
    const struct clients_detail *detail; /* what its protocol knows of it; or NULL */
    struct alone alone;          /* while it plays a stream without a publisher */
    struct stream_owner *owner;           /* of its stream, while it is in it: session/move.h */
    bool plays;                  /* there */
    bool on_demand;              /* it plays a file: of its stream there is the name alone */
    /* what every turn of a publisher touches, together and last: serve/rtmp/publish.c fetches it */
    struct session_env *env;
    struct live_source *src;     /* while it publishes or plays, with a reference */
    struct io *io;               /* NULL: it comes by requests, each over any connection */
    struct conf *conf;           /* the snapshot that is applied, with a reference */
    const struct conf_vhost *vhost; /* in it */
    unsigned generation;         /* of the snapshot */
};

/* It is served by the snapshot in force. */
void session_init(struct session *s, struct session_env *env, struct io *io);
/* The coroutine that calls works for it from now on; rates and times begin. */
void session_begin(struct session *s);
void session_fini(struct session *s);

/* What it asks for: the vhost is that of the snapshot in force, which is applied from now on; the
 * names have a key; they may be those that it has. ERR_NO_VHOST, ERR_VHOST_DISABLED: then it ends
 * by what it had. */
err_t session_find_stream(struct session *s, const char *vhost, const char *app, const char *name)
    __attribute__((warn_unused_result));
/* Once a turn: apply the configuration if it changed. *changed: it did, and the vhost is there. */
err_t session_apply(struct session *s, bool *changed) __attribute__((warn_unused_result));

/* Its stream, s->src, made if nobody has it; given back by session_leave(). */
void session_source(struct session *s);
/* In the list of clients: first it waits to be let in and can be kicked, then it is let in, then it
 * leaves its stream and the list; `why` is borrowed. Who never waited may leave, too. */
void session_wait(struct session *s, enum clients_type type);
void session_enter(struct session *s);
void session_leave(struct session *s, err_t why);
/* The last line of a conversation in the log: what it published or played at last, and why it
 * ended, which is freed. Behind session_leave(). */
void session_log_end(const struct session *s, err_t *why);
/* The same line where the conversation goes on, as that of a forward which tries again, or the
 * error is needed further: `why` is borrowed. Nothing if it neither published nor played since the
 * last line. */
void session_log_did(struct session *s, err_t why);
/* Take its bit rates, every few seconds. */
void session_count(struct session *s, co_usec now);
/* The same; true: the sample line of this kind is its to write. */
bool session_sample(struct session *s, enum sampled_kind kind, co_usec now);

/* From now on the coroutine that calls is stopped with ERR_EXPIRED when its time is over. */
void session_expiry_begin(struct serve_term *t, int64_t ends);
void session_expiry_end(struct serve_term *t); /* no more */

/* Is it over at this moment? */
bool session_has_expired(int64_t ends);
/* For who is not stopped but found out: ERR_EXPIRED. */
err_t session_expiry_error(void) __attribute__((warn_unused_result));

/* What it is sent, now. False: it is no player, or one that fetches by requests. */
bool session_play_stat(const struct session *s, struct live_sender_stat *out);

/* Callbacks about its stream. ask() may yield for long. */
err_t session_ask(struct session *s, enum hooks_action action) __attribute__((warn_unused_result));
void session_notify(struct session *s, enum hooks_action action);
/* What a callback says of it. */
struct hooks_event session_event(const struct session *s);

#endif
