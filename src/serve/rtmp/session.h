/* SPDX-License-Identifier: MIT */
/* session.h - state of one RTMP client; used only inside serve/rtmp.
 *
 * One coroutine runs through the phases: handshake and connect, commands until the client requests
 * a role, publish or play, and commands again. Each phase that must make progress has a deadline.
 * When it expires, the coroutine stops with an error that names the phase.
 */
#ifndef SERVE_RTMP_SESSION_H
#define SERVE_RTMP_SESSION_H

#include "co/co.h"
#include "co/net/io_tcp.h"
#include "proto/rtmp/command.h"
#include "proto/rtmp/conn.h"
#include "proto/rtmp/reply.h"
#include "proto/rtmp/url.h"
#include "serve/rtmp/rtmp.h"
#include "serve/tcp/conn.h"
#include "session/session.h"

/* One connection has one stream here. Players of a stream can share its bytes only if their
 * messages have the same stream id, so every createStream returns this one. */
enum { RTMP_STREAM_ID = 1 };

/* The role that the client requested; selects the next phase. */
enum rtmp_role { RTMP_ROLE_PUBLISH, RTMP_ROLE_PLAY };

struct rtmp_session {
    struct session base;     /* the members that every turn uses are at its end, and continue in
                              * conn */
    struct rtmp_in_setup setup;
    struct rtmp_conn conn;

    struct tcp_conn tcp;
    struct co_deadline deadline; /* deadline of the current phase */
    enum rtmp_role requested; /* requested before it moved to another worker */
    char *connect_text;      /* from connect: tcUrl, pageUrl and swfUrl of the names */
    bool opus;               /* from connect: the client decodes Opus */
    bool connected;          /* the backend got on_connect, so it must get on_close */
    bool has_stream;         /* createStream came in this phase */
    bool fc_publish;         /* the client sent FCPublish and waits for onFCPublish */
    bool fc_late;            /* FCPublish came after createStream, as from Haivision encoders */
    struct rtmp_url url;     /* URL of the app, or of the stream once one is requested */
    uint32_t stream_id;      /* stream id of the message with the request */
    struct vod_file *file;   /* the last file that it requested, with a reference, or NULL:
                              * clients request the length of a file before they play it */
    double start, duration;  /* milliseconds, from `play` */
};

/* Phases. Each returns an error, or NULL when the client may send its next request. */
err_t rtmp_session_connect(struct rtmp_session *s) __attribute__((warn_unused_result));

/* Returns the kind of publisher, by the commands it has sent so far. */
enum clients_type rtmp_session_publisher(const struct rtmp_session *s);
err_t rtmp_session_request(struct rtmp_session *s, enum rtmp_role *role)
    __attribute__((warn_unused_result));
err_t rtmp_session_publish(struct rtmp_session *s) __attribute__((warn_unused_result));
err_t rtmp_session_play(struct rtmp_session *s) __attribute__((warn_unused_result));
err_t rtmp_session_play_file(struct rtmp_session *s) __attribute__((warn_unused_result));

/* Sets the limits for incomplete messages: larger ones for an authorized publisher. */
void rtmp_session_set_limits(struct rtmp_session *s, bool publishes);

/* Sets s->url to this stream of its tcUrl; NULL: to the app alone. */
err_t rtmp_session_resolve(struct rtmp_session *s, const char *stream)
    __attribute__((warn_unused_result));

/* ---- files on demand (file.c) */

/* Like rtmp_session_resolve() for a name that may be a file's: "mp4:dir/a" is dir/a.mp4. */
err_t rtmp_file_resolve(struct rtmp_session *s, const char *name)
    __attribute__((warn_unused_result));
/* Sets s->base.on_demand if the stream is a file, and names the stream after the file. A name
 * without an extension means the FLV file if it exists. Yields. */
err_t rtmp_file_find(struct rtmp_session *s, enum rtmp_role role)
    __attribute__((warn_unused_result));
/* Opens the file that the stream names: s->file. The errors of vod_file_open(). Yields. */
err_t rtmp_file_open(struct rtmp_session *s) __attribute__((warn_unused_result));
/* Answers getStreamLength. Yields. */
err_t rtmp_file_length(struct rtmp_session *s, const struct rtmp_command *c)
    __attribute__((warn_unused_result));
void rtmp_file_close(struct rtmp_session *s);

/* A batch of messages sent together: write a body, put it, repeat, send. */
struct rtmp_batch {
    struct rtmp_session *s;
    struct wr out, body;
};
void rtmp_batch_begin(struct rtmp_batch *b, struct rtmp_session *s);
void rtmp_batch_put(struct rtmp_batch *b, uint8_t type, uint32_t stream_id);
void rtmp_batch_put_status(struct rtmp_batch *b, enum rtmp_status status, const char *text);
err_t rtmp_batch_send(struct rtmp_batch *b) __attribute__((warn_unused_result));

/* Answers a command that any phase may receive. */
err_t rtmp_session_answer(struct rtmp_session *s, const struct rtmp_command *c)
    __attribute__((warn_unused_result));
/* Sends one onStatus on the client's stream. */
err_t rtmp_session_reply(struct rtmp_session *s, enum rtmp_status status, const char *text)
    __attribute__((warn_unused_result));

/* Suspends the deadlines of the session and of its messages while a backend is called; resume ends
 * that. */
void rtmp_session_suspend_deadlines(struct rtmp_session *s);
void rtmp_session_resume_deadlines(struct rtmp_session *s);

#endif
