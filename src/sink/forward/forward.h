/* SPDX-License-Identifier: MIT */
/* forward.h - send streams on to other RTMP servers, as the vhost's `forward` says.
 *
 * A forward is a player whose peer we called ourselves: a coroutine and a cursor into the wire
 * that players share. A destination that is slow loses whole groups of pictures and one that is
 * dead is called again with growing pauses; the stream, its players and our memory do not notice.
 */
#ifndef SINK_FORWARD_FORWARD_H
#define SINK_FORWARD_FORWARD_H

#include "sink/sink.h"

extern const struct sink_ops forward_sink; /* it counts those connected, or trying to be */

/* One of them, for those who look. Strings are valid during the call. */
struct forward_info {
    const char *stream, *url; /* "vhost/app/stream", and where to: with *** for key and login */
    bool publishing;          /* else it is being called */
    co_usec began_at;         /* to publish */
    uint64_t bytes, dropped;  /* sent, and packets left out, on this connection */
    unsigned failures;        /* so far */
    const char *error;        /* of the last one; "" */
};
void forwards_each(const struct sink *sink,
                   void (*each)(void *arg, const struct forward_info *one), void *arg);

/* What the configuration says about SRT connections that we open. */
struct srt_caller_opts forward_srt_opts(const struct conf_srt_server *set);

#endif
