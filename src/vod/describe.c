/* SPDX-License-Identifier: MIT */
/* describe.c - which file a player plays, and its position, for lists. */
#include "vod/feed.h"

#include "base/container_of.h"

static co_usec in_us(int64_t time) /* 1/90000 s */
{
    return time * 100 / 9;
}

bool vod_feed_describe(const struct live_feed *feed, struct live_feed_info *out)
{
    static const int tracks[LIVE_FEED_TRACKS] = { [LIVE_FEED_VIDEO] = DEMUX_VIDEO,
                                                  [LIVE_FEED_AUDIO] = DEMUX_AUDIO };
    const struct vod_feed *f = container_of(feed, const struct vod_feed, feed);
    const struct demux_info *info;

    if (!f->file)
        return false;
    info = vod_file_info(f->file);
    *out = (struct live_feed_info){
        .name = vod_file_name(f->file), .position = in_us(vod_feed_position(f)),
        .duration = in_us(info->duration), .scale = f->scale, .kbps = info->kbps,
        .turn = vod_turn(info->kbps),
    };
    for (int i = 0; i < LIVE_FEED_TRACKS; i++) {
        const struct demux_track *t = &info->tracks[tracks[i]];

        out->tracks[i] = (struct live_feed_track){ t->codec, t->config, t->config_size };
    }
    return true;
}
