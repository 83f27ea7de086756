/* SPDX-License-Identifier: MIT */
/* session.h - the state of one RTMP client, for the files of serve/rtmp_* alone.
 *
 * One coroutine runs through the phases: handshake and connect, commands until the client says
 * what it wants, publish or play, and commands again. A phase that must make progress has a
 * deadline; when it passes, the coroutine is stopped and the end says which phase it was.
 */
#ifndef SERVE_RTMP_SESSION_H
#define SERVE_RTMP_SESSION_H

#include "base/kbps.h"
#include "co/net/io_tcp.h"
#include "proto/rtmp/command.h"
#include "proto/rtmp/conn.h"
#include "proto/rtmp/reply.h"
#include "proto/rtmp/url.h"
#include "serve/rtmp/rtmp.h"
#include "session/clients.h"
#include "session/hooks.h"

enum { RTMP_REPLY_MAX = 64 * 1024 };

/* What the client asked for: what the next phase is. */
enum rtmp_want { RTMP_WANT_PUBLISH, RTMP_WANT_PLAY };

struct rtmp_session {
    /* what every turn touches, together */
    struct session_env *env;
    struct io *io;
    struct conf *conf; /* the snapshot it obeys, with a reference; vhost points into it */
    const struct conf_vhost *vhost;
    unsigned generation;
    bool proxied; /* a header of the PROXY protocol comes first of all */
    struct rtmp_in_setup setup;
    struct rtmp_conn conn;

    struct io_tls_server *tls; /* a TLS handshake comes before RTMP; NULL: none */
    struct co *co;
    struct co_timer timer;  /* of the phase */
    const char *late;       /* what did not come in time; NULL while all is well */

    struct peers_place place;
    char ip[IO_ADDR_SIZE];
    int port;
    char *tc_url, *page_url, *swf_url; /* from connect; NULL when not told */
    bool has_stream;         /* createStream came, in this phase */
    bool fc_publish;         /* the client sent FCPublish: it waits for onFCPublish */
    bool fc_late;            /* after createStream: so do encoders of Haivision */
    struct rtmp_url url;     /* of the stream, once one is asked for */
    uint32_t stream_id;      /* of the message that asked */
    co_usec began_at;
    struct kbps in_kbps, out_kbps;
    int paced;               /* kbit/s that are sent at most; 0: any */
    struct client who; /* while it publishes or plays */
    bool kicked;              /* somebody wanted it to end */
    bool connected;           /* a backend was told that it is here */
    struct hooks_line *line;  /* its callbacks */
};

/* Phases; each returns an error, or NULL when the client is back to saying what it wants. */
err_t rtmp_session_accept(struct rtmp_session *s) __attribute__((warn_unused_result));
/* By what it said so far, the kind of publisher that it is. */
enum clients_type rtmp_session_publisher(const struct rtmp_session *s);
err_t rtmp_session_identify(struct rtmp_session *s, enum rtmp_want *want)
    __attribute__((warn_unused_result));
err_t rtmp_session_publish(struct rtmp_session *s) __attribute__((warn_unused_result));
err_t rtmp_session_play(struct rtmp_session *s) __attribute__((warn_unused_result));

/* The phase ends in time, or the coroutine is stopped with `late` telling what was missing.
 * Without (t 0) it may take for ever. */
void rtmp_session_deadline(struct rtmp_session *s, co_usec t, const char *late);

/* What it may send before each message ends: a publisher, who was let in, or anybody else. */
void rtmp_session_may_send(struct rtmp_session *s, bool publishes);

/* The vhost of that name in the snapshot in force; takes over to it. ERR_NO_VHOST,
 * ERR_VHOST_DISABLED. */
err_t rtmp_session_find_vhost(struct rtmp_session *s, const char *name)
    __attribute__((warn_unused_result));
/* Once a turn: has the configuration changed? Then obey the new one, *changed is true. */
err_t rtmp_session_apply(struct rtmp_session *s, bool *changed) __attribute__((warn_unused_result));
/* May this client do that, by its address and its page? */
err_t rtmp_session_allowed(struct rtmp_session *s, enum conf_action what)
    __attribute__((warn_unused_result));

/* Answer a command that any phase may see. */
err_t rtmp_session_answer(struct rtmp_session *s, const struct rtmp_command *c)
    __attribute__((warn_unused_result));
/* One onStatus on the client's stream. */
err_t rtmp_session_reply(struct rtmp_session *s, enum rtmp_status status, const char *text)
    __attribute__((warn_unused_result));
/* Put an onStatus (and more of the kind) into a batch. */
void rtmp_session_put_status(struct rtmp_session *s, struct wr *out, enum rtmp_status status,
                             const char *text);

/* In the server's lists: while it waits to be let in, and while it publishes or plays; `why` is
 * borrowed. */
void rtmp_session_wait(struct rtmp_session *s, enum clients_type type, struct live_source *src);
void rtmp_session_enter(struct rtmp_session *s);
void rtmp_session_leave(struct rtmp_session *s, err_t why);
/* Take the bit rates; every few seconds. */
void rtmp_session_count(struct rtmp_session *s, co_usec now);
/* What the stream is called; the strings are the session's. */
struct session_stream rtmp_session_names(const struct rtmp_session *s);

/* Callbacks about its stream: ask may yield for long, and no deadline runs meanwhile. */
err_t rtmp_session_ask(struct rtmp_session *s, enum hooks_action action,
                       const struct session_stream *names) __attribute__((warn_unused_result));
/* May it play, and until when? By all that there is to ask. */
err_t rtmp_session_ask_play(struct rtmp_session *s, const struct session_stream *names,
                            int64_t *ends)
    __attribute__((warn_unused_result));
void rtmp_session_notify(struct rtmp_session *s, enum hooks_action action);

/* "vhost/app/stream", malloc'ed. */
char *rtmp_session_stream_name(const struct rtmp_session *s);

#endif
