/* SPDX-License-Identifier: MIT */
/* hooks.h - callbacks: a backend is asked what clients may do, and told what they did.
 *
 * A client's callbacks come in order. Those that decide (on_connect, on_publish, on_play) hold up
 * that client alone, and any answer but a clear yes is a no. Those that inform are queued, bounded,
 * and sent by coroutines of their own, a few for each backend: one that hangs delays nobody but
 * those who wait for it too.
 */
#ifndef SESSION_HOOKS_H
#define SESSION_HOOKS_H

#include "conf/conf.h"
#include "session/env.h"

struct hooks;      /* all of a server; owned by it */
struct hooks_line; /* the callbacks of one client, in order; shared with those under way */

enum hooks_action {
    HOOKS_CONNECT, HOOKS_CLOSE, HOOKS_PUBLISH, HOOKS_UNPUBLISH, HOOKS_PLAY, HOOKS_STOP,
    HOOKS_DVR, HOOKS_HLS, HOOKS_FORWARD, HOOKS_ACTIONS,
    HOOKS_HLS_NOTIFY = HOOKS_ACTIONS, HOOKS_KINDS,
};
const char *hooks_name(enum hooks_action action); /* "on_connect" */

/* What happened; fields that the action does not have may be left out. */
struct hooks_event {
    const struct session_stream *names;
    const char *client_id;  /* NULL: the cid of the coroutine that calls */
    const char *token;      /* that it showed by Authorization, for backends; NULL: none */
    const char *bearer;     /* PLAY: the Authorization of its request; no backend gets it */
    unsigned clients;       /* of the stream */
    uint64_t in, out;       /* CLOSE: bytes of its connection */
    const char *file;       /* DVR, HLS: path of the file as it was opened */
    const char *url;        /* HLS: of the segment, below the root of the web server */
    const char *m3u8, *m3u8_url;
    double duration;        /* seconds */
    int64_t seq_no;
};

struct hooks *hooks_new(struct session_env *env);
/* Callbacks that wait get a moment to be sent. Yields. */
void hooks_free(struct hooks *h);

/* May it? NULL, or ERR_HOOK_DENIED when a backend said no, or why it could not be asked. At once
 * where the vhost has no such callback. *line begins as NULL and is the client's until
 * hooks_line_end(). `vhost` must stay valid: hold a reference to its snapshot. Yields. */
err_t hooks_authorize(struct session_env *env, struct hooks_line **line,
                      const struct conf_vhost *vhost, enum hooks_action action,
                      const struct hooks_event *event) __attribute__((warn_unused_result));
/* Tell it, later. All is copied; vhost must be of serve->conf or `conf`. Does not yield. */
void hooks_notify(struct session_env *env, struct hooks_line **line, struct conf *conf,
                  const struct conf_vhost *vhost, enum hooks_action action,
                  const struct hooks_event *event);
/* on_hls_notify: GET of one of its urls, with [app], [stream], [param], [ts_url] (the event's url),
 * [server_id] and [service_id] filled in. Does not yield. */
void hooks_notify_hls(struct session_env *env, struct conf *conf, const struct conf_vhost *vhost,
                      const struct hooks_event *event);
/* forward.backend: the urls that this stream shall be sent to, malloc'ed as is each of them; none
 * is *n 0. ERR_HOOK_DENIED and the errors of asking. Yields. */
err_t hooks_query_forward(struct session_env *env, const struct conf_vhost *vhost,
                        const struct hooks_event *event, char ***urls, size_t *n)
    __attribute__((warn_unused_result));
void hooks_line_end(struct hooks_line **line); /* NULL is fine */
/* Wait until all that the client's backends are to be told so far has been, as long as it would
 * wait to ask, and end the line: for who goes to another worker. The error of a stop. Yields. */
err_t hooks_line_rest(struct hooks_line **line, const struct conf_vhost *vhost)
    __attribute__((warn_unused_result));

/* ---- for statistics */

struct hooks_stat { /* words alone */
    uint64_t ok, denied, failed, dropped; /* failed: no answer */
    uint64_t retried;
    uint64_t micros;             /* all answers together */
};
const struct hooks_stat *hooks_stat(const struct hooks *h, enum hooks_action action);
unsigned hooks_waiting(const struct hooks *h); /* in the queue and under way */

#endif
