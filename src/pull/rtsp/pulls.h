/* SPDX-License-Identifier: MIT */
/* pulls.h - streams fetched from other RTSP servers: `rtsp { pull }` of a vhost.
 *
 * Each worker has the pulls of the streams that it owns. Permanent pulls start with the server or a
 * reload, pulls on demand start for their first player. A pull holds the owner of its stream, so no
 * second one starts elsewhere. It publishes like any other publisher, but without authorization:
 * the configuration allows it.
 */
#ifndef PULL_RTSP_PULLS_H
#define PULL_RTSP_PULLS_H

#include "session/condition.h"
#include "sink/sink.h"

extern const struct sink_ops rtsp_pulls_sink;

/* Handles a client that requests the unpublished stream `names` (which have a key), or still waits
 * for it. Returns true if the stream is pulled. Does not yield. */
bool rtsp_pulls_request(struct sink *sink, const struct session_stream *names);

/* One pull, for lists. Strings are valid during the call. */
struct rtsp_pull_info {
    const char *id;
    const struct stream_key *key;
    const char *url;      /* without user and password; "" until it is known */
    bool on_demand, udp;
    co_usec retry_at;     /* time of the next call after a failure; 0: connecting or running */
    uint64_t bytes;       /* received on this connection */
    const struct condition *condition;
};
void rtsp_pulls_each(const struct sink *sink,
                     void (*each)(void *arg, const struct rtsp_pull_info *one), void *arg);

#endif
