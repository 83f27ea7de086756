/* SPDX-License-Identifier: MIT */
/* rtmfp_feed.c - a file as messages of a publisher of RTMFP, each when it is due. */
#include "tools/load/rtmfp_talk.h"

#include "base/must.h"
#include "format/flv/flv.h"
#include "proto/rtmfp/rtmp.h"
#include "tools/load/run.h"

#include <stdlib.h>

#define LATE CO_SECONDS(1) /* video that waits for longer is given up */

static struct rtmfp_flow_out *flow_of(const struct load_rtmfp_feed *f, uint8_t type)
{
    return type == FLV_VIDEO ? f->video : type == FLV_AUDIO ? f->audio : f->data;
}

/* `keep`: it is not given up. */
static void say(struct load_rtmfp_feed *f, const struct load_message *msg, bool keep)
{
    struct rtmfp_flow_out *flow = flow_of(f, msg->type);
    uint8_t extra[LOAD_MARKER_SIZE];
    size_t n = load_message_extra(extra, msg, f->marker ? &f->number : NULL), at = msg->marker;
    size_t size = msg->size + n;
    struct rtmfp_message *m;
    struct wr w;

    f->stat->messages++;
    if (!flow)
        return;
    m = must(rtmfp_message_of(msg->type, (uint32_t)f->play.time, size, load_play_due(&f->play)));
    w = rtmfp_wr(m->bytes + RTMFP_MESSAGE_HEAD, size);
    wr_bytes(&w, msg->data, at);
    wr_bytes(&w, extra, n);
    wr_bytes(&w, msg->data + at, msg->size - at);
    if (!rtmfp_flow_out_write(flow, m, keep))
        f->stat->rtmfp.unsent++;
    rtmfp_message_unref(m);
}

static void say_media(struct load_rtmfp_feed *f)
{
    const struct load_message *msg = f->play.msg;

    if (msg->type == FLV_VIDEO && msg->key)
        f->until_key = false;
    if (msg->type == FLV_VIDEO && f->until_key) {
        f->stat->rtmfp.unsent++;
        f->number += msg->marker && f->marker; /* it counts as lost */
    } else {
        say(f, msg, msg->type != FLV_VIDEO);
    }
}

bool load_rtmfp_feed_begin(struct load_rtmfp_feed *f, struct rtmfp_session *s,
                           struct rtmfp_flow_out *data, const struct rtmfp_flow_in *control,
                           co_usec now)
{
    struct rtmfp_bytes metadata = rtmfp_bytes(data->metadata, data->metadata_size);

    f->data = data;
    f->audio = rtmfp_flow_open(s, metadata, control, RTMFP_AUDIO);
    f->video = rtmfp_flow_open(s, metadata, control, RTMFP_VIDEO);
    load_play_begin(&f->play, f->media, (unsigned)rand(), now);
    if (!f->audio || !f->video)
        return false;
    for (size_t i = 0; i < f->media->head_count; i++)
        say(f, &f->media->heads[i], true);
    return true;
}

void load_rtmfp_feed_run(struct load_rtmfp_feed *f, co_usec now)
{
    unsigned gone = f->video && f->video->waiting_n > 0
                        ? rtmfp_flow_out_abandon(f->video, now - LATE)
                        : 0;

    f->stat->rtmfp.unsent += gone;
    f->until_key |= gone > 0;
    for (; load_rtmfp_feed_due(f) <= now; load_play_next(&f->play)) {
        load_hist_add(&f->stat->lag, now - load_rtmfp_feed_due(f));
        say_media(f);
    }
}

co_usec load_rtmfp_feed_due(const struct load_rtmfp_feed *f)
{
    return f->play.media ? load_play_due(&f->play) : CO_FOREVER;
}

void load_rtmfp_feed_forget(struct load_rtmfp_feed *f, const struct rtmfp_flow_out *flow)
{
    struct rtmfp_flow_out **all[] = { &f->data, &f->audio, &f->video };

    for (int i = 0; i < 3; i++)
        if (*all[i] == flow)
            *all[i] = NULL;
}
