/* SPDX-License-Identifier: MIT */
/* forward.h - forwards streams to other servers, configured by the vhost's `forward`.
 *
 * A forward is a player on an outgoing connection: a coroutine and a cursor in the wire that
 * players share. A slow destination loses whole GOPs, and an unreachable one is called again after
 * growing pauses; the stream and its players are not affected.
 */
#ifndef SINK_FORWARD_FORWARD_H
#define SINK_FORWARD_FORWARD_H

#include "sink/sink.h"

extern const struct sink_ops forward_sink; /* counts connected and connecting forwards */

/* Information about a forward for the API. Strings are valid during the call. */
struct forward_info {
    const char *stream, *url; /* "vhost/app/stream"; destination, with *** for key and login */
    bool publishing;          /* else it is connecting */
    co_usec began_at;         /* start of publishing */
    uint64_t bytes, dropped;  /* sent bytes and dropped packets of this connection */
    unsigned failures;        /* number of failed attempts */
    const char *error;        /* last error, or "" */
};
void forwards_each(const struct sink *sink,
                   void (*each)(void *arg, const struct forward_info *one), void *arg);

/* Returns the configured options of outgoing SRT connections. */
struct srt_caller_opts forward_srt_opts(const struct conf_srt_server *set);

#endif
