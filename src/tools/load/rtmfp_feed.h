/* SPDX-License-Identifier: MIT */
/* rtmfp_feed.h - a file as messages of a publisher of RTMFP, each when it is due, round and round:
 * audio on a flow, video on a flow, data on that of commands. Video that waits for too long is
 * given up, and what follows it up to a key frame is left out.
 *
 * No I/O, nothing yields.
 */
#ifndef TOOLS_LOAD_RTMFP_FEED_H
#define TOOLS_LOAD_RTMFP_FEED_H

#include "proto/rtmfp/session.h"
#include "tools/load/media.h"
#include "tools/load/stat.h"

struct load_rtmfp_feed {
    const struct load_media *media;
    struct load_stat *stat;
    bool marker;                     /* put the clock into pictures */
    struct rtmfp_flow_out *data, *audio, *video; /* NULL: it is not there, or was rejected */
    struct load_play play;           /* of `media` NULL: it has not begun */
    uint32_t number;                 /* of pictures */
    bool until_key;
};

/* `data`: the flow that `publish` was said on; others like it are opened, which answer the peer's
 * flow `control`. False: there are too many. */
bool load_rtmfp_feed_begin(struct load_rtmfp_feed *f, struct rtmfp_session *s,
                           struct rtmfp_flow_out *data, const struct rtmfp_flow_in *control,
                           co_usec now);
/* What is due waits in its flows after it. */
void load_rtmfp_feed_run(struct load_rtmfp_feed *f, co_usec now);
co_usec load_rtmfp_feed_due(const struct load_rtmfp_feed *f);
/* A flow is gone. */
void load_rtmfp_feed_forget(struct load_rtmfp_feed *f, const struct rtmfp_flow_out *flow);

#endif
