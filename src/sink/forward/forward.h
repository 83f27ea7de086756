/* SPDX-License-Identifier: MIT */
/* forward.h - send streams on to other RTMP servers, as the vhost's `forward` says.
 *
 * A forward is a player whose peer we called ourselves: a coroutine and a cursor into the wire
 * that players share. A destination that is slow loses whole groups of pictures and one that is
 * dead is called again with growing pauses; the stream, its players and our memory do not notice.
 */
#ifndef SINK_FORWARD_FORWARD_H
#define SINK_FORWARD_FORWARD_H

#include "session/env.h"

struct forwards; /* all forwards of a server; owned by it */

struct forwards *forwards_new(struct session_env *env);
/* A stream begins: call its vhost's destinations. The names are copied. Does not yield. */
void forwards_begin(struct forwards *f, const struct conf_vhost *vhost,
                    const struct session_stream *stream, struct live_source *src);
/* A stream ends: its forwards send what is left and end. Does not yield. */
void forwards_end(struct forwards *f, const struct live_source *src);
/* The configuration changed: call those that are new, leave those no longer wanted. */
void forwards_reload(struct forwards *f);

/* One of them, for those who look. Strings are valid during the call. */
struct forward_info {
    const char *stream, *url; /* "vhost/app/stream", and where to */
    bool publishing;          /* else it is being called */
    co_usec began_at;         /* to publish */
    uint64_t bytes, dropped;  /* sent, and packets left out, on this connection */
    unsigned failures;        /* so far */
    const char *error;        /* of the last one; "" */
};
void forwards_each(const struct forwards *f,
                   void (*each)(void *arg, const struct forward_info *one), void *arg);
unsigned forwards_count(const struct forwards *f); /* connected, or trying to be */
void forwards_free(struct forwards *f); /* ends all and waits for it. Yields. */

#endif
