/* SPDX-License-Identifier: MIT */
/* notify.h - callbacks about files of a stream that were closed.
 *
 * Helper threads complete files, often after the publisher has left. So a sink keeps the
 * publisher's identity for each of its streams and sends callbacks by it. It never waits for a
 * backend.
 */
#ifndef SINK_NOTIFY_H
#define SINK_NOTIFY_H

#include "session/clients.h"
#include "session/hooks.h"

struct sink_notifier {
    struct session_stream names; /* owned */
    char client_id[CLIENTS_ID_SIZE];
    struct hooks_line *line;   /* keeps the callbacks in order */
};

/* Sets the publisher: copies the names; the client is the stream's publisher, else the calling
 * coroutine. Initially zero; call it again for the next publisher. */
void sink_notifier_set(struct sink_notifier *t, struct session_env *env,
                       const struct session_stream *names, struct live_source *src);
/* Takes the publisher over from another notifier, which is zeroed; the order of callbacks stays. */
void sink_notifier_take(struct sink_notifier *t, struct sink_notifier *from);
void sink_notifier_fini(struct sink_notifier *t);

/* Sends a callback; `event` has no names and no client. It uses the vhost's current configuration,
 * or `conf` if the vhost was removed. HLS events go to on_hls_notify, too. Does not yield. */
void sink_notify(struct sink_notifier *t, struct session_env *env, struct conf *conf,
                 enum hooks_action action, struct hooks_event event);

#endif
