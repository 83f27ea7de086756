/* SPDX-License-Identifier: MIT */
/* hooks.h - HTTP callbacks to backends, which authorize clients and are notified of events.
 *
 * Callbacks of a client are sent in order. Authorizing ones (on_connect, on_publish, on_play) delay
 * only that client, and any response but a clear yes is a no. Notifications are put in limited
 * queues and sent by a few coroutines per backend, so a hanging backend delays only clients that
 * wait for it.
 */
#ifndef SESSION_HOOKS_H
#define SESSION_HOOKS_H

#include "conf/conf.h"
#include "session/env.h"

struct hooks;      /* all callbacks of a worker; owned by the server */
struct hooks_line; /* the ordered callbacks of one client; shared with running ones */

enum hooks_action {
    HOOKS_CONNECT, HOOKS_CLOSE, HOOKS_PUBLISH, HOOKS_UNPUBLISH, HOOKS_PLAY, HOOKS_STOP,
    HOOKS_DVR, HOOKS_HLS, HOOKS_FORWARD, HOOKS_ACTIONS,
    HOOKS_HLS_NOTIFY = HOOKS_ACTIONS, HOOKS_KINDS,
};
const char *hooks_name(enum hooks_action action); /* "on_connect" */

/* An event; fields that the action does not use may be omitted. */
struct hooks_event {
    const struct session_stream *names;
    const char *client_id;  /* NULL: the cid of the calling coroutine */
    const char *token;      /* token from Authorization, for backends; or NULL */
    const char *bearer;     /* PLAY: its Authorization header, not sent to backends */
    unsigned clients;       /* number of clients of the stream */
    uint64_t in, out;       /* CLOSE: bytes of its connection */
    const char *file;       /* DVR, HLS: path of the file when it was opened */
    const char *url;        /* HLS: URL of the segment, relative to the web server's root */
    const char *m3u8, *m3u8_url;
    double duration;        /* seconds */
    int64_t seq_no;
};

struct hooks *hooks_new(struct session_env *env);
/* Gives pending callbacks a moment to be sent. Yields. */
void hooks_free(struct hooks *h);

/* Asks the backends of the vhost to authorize an action. Fails with ERR_HOOK_DENIED if one denies
 * it, or with the error of the request. Returns immediately if the vhost has no such callback.
 * *line is initially NULL and belongs to the client until hooks_line_end(). `vhost` must stay
 * valid: hold a reference to its configuration. Yields. */
err_t hooks_authorize(struct session_env *env, struct hooks_line **line,
                      const struct conf_vhost *vhost, enum hooks_action action,
                      const struct hooks_event *event) __attribute__((warn_unused_result));
/* Queues a notification. Everything is copied; vhost must be in env->conf or `conf`. Does not
 * yield. */
void hooks_notify(struct session_env *env, struct hooks_line **line, struct conf *conf,
                  const struct conf_vhost *vhost, enum hooks_action action,
                  const struct hooks_event *event);
/* on_hls_notify: GET of one of its URLs, with [app], [stream], [param], [ts_url] (the event's URL),
 * [server_id] and [service_id] filled in. Does not yield. */
void hooks_notify_hls(struct session_env *env, struct conf *conf, const struct conf_vhost *vhost,
                      const struct hooks_event *event);
/* forward.backend: gets the URLs that this stream is forwarded to; the array and each URL are
 * malloc'ed; *n may be 0. ERR_HOOK_DENIED, or an error of the request. Yields. */
err_t hooks_query_forward(struct session_env *env, const struct conf_vhost *vhost,
                        const struct hooks_event *event, char ***urls, size_t *n)
    __attribute__((warn_unused_result));
void hooks_line_end(struct hooks_line **line); /* NULL is fine */
/* Waits until all notifications of the client are sent (at most the callback timeout) and ends the
 * line, before the client moves to another worker. Fails if the coroutine is stopped. Yields. */
err_t hooks_line_rest(struct hooks_line **line, const struct conf_vhost *vhost)
    __attribute__((warn_unused_result));

/* ---- for statistics */

struct hooks_stat { /* only 64-bit words */
    uint64_t ok, denied, failed, dropped; /* failed: no response */
    uint64_t retried;
    uint64_t micros;             /* total response time */
};
const struct hooks_stat *hooks_stat(const struct hooks *h, enum hooks_action action);
unsigned hooks_waiting(const struct hooks *h); /* queued and running callbacks */

#endif
