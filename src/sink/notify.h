/* SPDX-License-Identifier: MIT */
/* notify.h - tell a backend what became of a stream: files that were closed.
 *
 * Files are done when helper threads say so, often after their publisher left. So a sink keeps with
 * each of its streams whose it was, and tells by this; it never waits for a backend.
 */
#ifndef SINK_NOTIFY_H
#define SINK_NOTIFY_H

#include "session/clients.h"
#include "session/hooks.h"

struct sink_notifier {
    struct session_stream names; /* its own */
    char client_id[CLIENTS_ID_SIZE];
    struct hooks_line *line;   /* so what it tells comes in order */
};

/* A publisher begins: the names are copied; the client is the stream's publisher, else the
 * coroutine that calls. Zeroed before the first time; again for the next publisher. */
void sink_notifier_set(struct sink_notifier *t, struct session_env *env,
                       const struct session_stream *names, struct live_source *src);
/* Whose it is goes over from another one, which is zeroed then; the line stays. */
void sink_notifier_take(struct sink_notifier *t, struct sink_notifier *from);
void sink_notifier_fini(struct sink_notifier *t);

/* The event without its names and its client. What a backend is told is what the vhost says now;
 * `conf` is for a vhost that is gone. HLS is told by on_hls_notify, too. Does not yield. */
void sink_notify(struct sink_notifier *t, struct session_env *env, struct conf *conf,
                 enum hooks_action action, struct hooks_event event);

#endif
