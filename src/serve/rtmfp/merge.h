/* SPDX-License-Identifier: MIT */
/* merge.h - merges audio and video of a publisher, which arrive on two flows, in order of time.
 *
 * Each flow is ordered; between flows there is no order (RFC 7425, 5.3.5): a retransmitted or large
 * message arrives after later messages of the other flow. So a message waits until the other kind
 * has caught up, but not for long: briefly while both arrive together, longer if something was lost
 * recently, and one second while part of a flow is known to be missing. A silent kind is not waited
 * for. Nothing here yields.
 */
#ifndef SERVE_RTMFP_MERGE_H
#define SERVE_RTMFP_MERGE_H

#include "av/packet.h"
#include "co/co.h"
#include "proto/rtmp/msg.h"
#include "proto/rtmp/time.h"

enum { RTMFP_MERGE_AUDIO, RTMFP_MERGE_VIDEO, RTMFP_MERGE_LINES };

/* limits of waiting messages: over them the oldest go on at once */
enum { RTMFP_MERGE_MOST = 512, RTMFP_MERGE_BYTES = 8 << 20 };

struct rtmfp_merge_entry; /* a waiting message */

struct rtmfp_merge_line {
    struct rtmfp_merge_entry *first, **end;
    struct rtmp_time time;
    int64_t newest;      /* time of the newest message, milliseconds */
    co_usec received_at;    /* arrival of it */
};

struct rtmfp_merge { /* zeroed: nothing arrived yet */
    struct rtmfp_merge_line v[RTMFP_MERGE_LINES];
    unsigned n;
    size_t bytes;
    bool behind;         /* part of a flow is missing */
    co_usec behind_at;   /* when that was last so; 0: never */
};

/* Adds a message of a line and takes over its payload. `aside`: its time is not on the timeline of
 * the stream, as with a decoder configuration. */
void rtmfp_merge_put(struct rtmfp_merge *o, unsigned line, const struct rtmp_msg *msg, bool aside,
                     co_usec now);
/* Returns the next message that is due, with its payload; `all`: does not wait. False: none. */
bool rtmfp_merge_next(struct rtmfp_merge *o, struct rtmp_msg *out, bool all, co_usec now);
/* Returns when to call next() if nothing arrives; CO_FOREVER: nothing waits. */
co_usec rtmfp_merge_due(const struct rtmfp_merge *o);

#endif
