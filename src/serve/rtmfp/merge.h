/* SPDX-License-Identifier: MIT */
/* merge.h - audio and video of a publisher, which come on two flows, in order of time.
 *
 * Each flow is in order by itself; between them nothing is kept (RFC 7425, 5.3.5): what is sent
 * again, or is large, comes behind what the other flow said later. So a message waits until the
 * other kind has come as far, but not for long: shortly, as both come side by side; longer where
 * something was lost lately; and a second while some of a flow is known to be on its way. A kind
 * that is silent is not waited for.
 * Nothing here yields.
 */
#ifndef SERVE_RTMFP_MERGE_H
#define SERVE_RTMFP_MERGE_H

#include "av/packet.h"
#include "co/co.h"
#include "proto/rtmp/msg.h"
#include "proto/rtmp/time.h"

enum { RTMFP_MERGE_AUDIO, RTMFP_MERGE_VIDEO, RTMFP_MERGE_LINES };

enum { RTMFP_MERGE_MOST = 512, RTMFP_MERGE_BYTES = 8 << 20 }; /* that wait: more go on at once */

struct rtmfp_merge_entry; /* a message that waits */

struct rtmfp_merge_line {
    struct rtmfp_merge_entry *first, **end;
    struct rtmp_time time;
    int64_t newest;      /* of what came, milliseconds */
    co_usec heard_at;    /* when */
};

struct rtmfp_merge { /* zeroed: nothing came yet */
    struct rtmfp_merge_line v[RTMFP_MERGE_LINES];
    unsigned n;
    size_t bytes;
    bool behind;         /* some of a flow is on its way */
    co_usec behind_at;   /* when that was so last; 0: never */
};

/* A message of that line comes, whose payload is taken over; `aside`: its time is not the
 * stream's, as that of a decoder configuration. */
void rtmfp_merge_put(struct rtmfp_merge *o, unsigned line, const struct rtmp_msg *msg, bool aside,
                     co_usec now);
/* The next one whose turn it is, with its payload; `all`: nothing is waited for. False: none. */
bool rtmfp_merge_next(struct rtmfp_merge *o, struct rtmp_msg *out, bool all, co_usec now);
/* When next() is to be asked if nothing comes; CO_FOREVER: nothing waits. */
co_usec rtmfp_merge_due(const struct rtmfp_merge *o);

#endif
