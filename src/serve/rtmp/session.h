/* SPDX-License-Identifier: MIT */
/* session.h - the state of one RTMP client, for the files of serve/rtmp alone.
 *
 * One coroutine runs through the phases: handshake and connect, commands until the client says
 * what it wants, publish or play, and commands again. A phase that must make progress has a
 * deadline; when it passes, the coroutine is stopped with an error that says which phase it was.
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

/* One connection is one stream here, and all players of a stream can share its bytes only if
 * their messages have the same stream id. So every createStream gets this one. */
enum { RTMP_STREAM_ID = 1 };

/* What the client asked for, and so the next phase. */
enum rtmp_role { RTMP_ROLE_PUBLISH, RTMP_ROLE_PLAY };

struct rtmp_session {
    struct session base; /* what every turn touches is at its end, and goes on in conn */
    struct rtmp_in_setup setup;
    struct rtmp_conn conn;

    struct tcp_conn tcp;
    struct co_deadline deadline; /* of the phase */
    enum rtmp_role wanted;   /* what it said before it went to another worker */
    char *said;              /* by connect: tcUrl, pageUrl and swfUrl of the names */
    bool opus;               /* by connect: it takes Opus */
    bool connected;          /* a backend was told that it is here */
    bool has_stream;         /* createStream came, in this phase */
    bool fc_publish;         /* the client sent FCPublish: it waits for onFCPublish */
    bool fc_late;            /* after createStream: so do encoders of Haivision */
    struct rtmp_url url;     /* of its app; of the stream, once one is asked for */
    uint32_t stream_id;      /* of the message that asked */
    struct vod_file *file;   /* the last one that it asked about, with a reference, or NULL: it
                              * asks how long a file is before it plays it */
    double start, duration;  /* as `play` said them */
};

/* Phases; each returns an error, or NULL when the client is back to saying what it wants. */
err_t rtmp_session_connect(struct rtmp_session *s) __attribute__((warn_unused_result));

/* By what it said so far, the kind of publisher that it is. */
enum clients_type rtmp_session_publisher(const struct rtmp_session *s);
err_t rtmp_session_request(struct rtmp_session *s, enum rtmp_role *want)
    __attribute__((warn_unused_result));
err_t rtmp_session_publish(struct rtmp_session *s) __attribute__((warn_unused_result));
err_t rtmp_session_play(struct rtmp_session *s) __attribute__((warn_unused_result));
err_t rtmp_session_play_file(struct rtmp_session *s) __attribute__((warn_unused_result));

/* What it may send before each message ends: a publisher, who was let in, or anybody else. */
void rtmp_session_may_send(struct rtmp_session *s, bool publishes);

/* Its url is that of this stream of its tcUrl; NULL: of its app. */
err_t rtmp_session_resolve(struct rtmp_session *s, const char *stream)
    __attribute__((warn_unused_result));

/* ---- files on demand (file.c) */

/* rtmp_session_resolve() of a name that may be a file's: "mp4:dir/a" is dir/a.mp4. */
err_t rtmp_file_resolve(struct rtmp_session *s, const char *name)
    __attribute__((warn_unused_result));
/* Is its stream a file? Then it is known by the file's name, and plays it on demand: s->base. A
 * name without an ending is an FLV file's, if that is there. Yields. */
err_t rtmp_file_find(struct rtmp_session *s, enum rtmp_role want)
    __attribute__((warn_unused_result));
/* Its stream, which is a file: s->file. The errors of vod_file_open(). Yields. */
err_t rtmp_file_open(struct rtmp_session *s) __attribute__((warn_unused_result));
/* Answer getStreamLength. Yields. */
err_t rtmp_file_length(struct rtmp_session *s, const struct rtmp_command *c)
    __attribute__((warn_unused_result));
void rtmp_file_forget(struct rtmp_session *s);

/* Messages that are sent together: write a body, put it, again, send. */
struct rtmp_batch {
    struct rtmp_session *s;
    struct wr out, body;
};
void rtmp_batch_begin(struct rtmp_batch *b, struct rtmp_session *s);
void rtmp_batch_put(struct rtmp_batch *b, uint8_t type, uint32_t stream_id);
void rtmp_batch_put_status(struct rtmp_batch *b, enum rtmp_status status, const char *text);
err_t rtmp_batch_send(struct rtmp_batch *b) __attribute__((warn_unused_result));

/* Answer a command that any phase may see. */
err_t rtmp_session_answer(struct rtmp_session *s, const struct rtmp_command *c)
    __attribute__((warn_unused_result));
/* One onStatus on the client's stream. */
err_t rtmp_session_reply(struct rtmp_session *s, enum rtmp_status status, const char *text)
    __attribute__((warn_unused_result));

/* Others are asked about it, which may take long: no deadline runs, and no message is late. */
void rtmp_session_hold(struct rtmp_session *s);
void rtmp_session_go_on(struct rtmp_session *s);

#endif
