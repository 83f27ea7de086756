/* SPDX-License-Identifier: MIT */
/* pulls.h - streams that we fetch from other RTSP servers: `rtsp { pull }` of a vhost.
 *
 * Each worker has the pulls of the streams that are at home there. What is pulled all the time is
 * begun when the server starts, and by a reload; what is pulled on demand, when somebody comes to
 * play it. A pull stays in its stream's home for as long as it is there, so no second one begins
 * elsewhere. It publishes as any other publisher does, but nobody is asked whether it may: the
 * configuration says so.
 */
#ifndef PULL_RTSP_PULLS_H
#define PULL_RTSP_PULLS_H

#include "session/condition.h"
#include "sink/sink.h"

extern const struct sink_ops rtsp_pulls_sink;

/* Somebody came for a stream that nobody publishes, or still waits for it: that of `names`, which
 * have a key. True: it is pulled. Does not yield. */
bool rtsp_pulls_wanted(struct sink *sink, const struct session_stream *names);

/* One of them, for those who look. Strings are valid during the call. */
struct rtsp_pull_info {
    const char *id;
    const struct stream_key *key;
    const char *url;      /* without user and password; "" until it is known */
    bool on_demand, udp;
    co_usec again_at;     /* when the server is called again; 0: it is called, or sends */
    uint64_t bytes;       /* received on this connection */
    const struct condition *condition;
};
void rtsp_pulls_each(const struct sink *sink,
                     void (*each)(void *arg, const struct rtsp_pull_info *one), void *arg);

#endif
