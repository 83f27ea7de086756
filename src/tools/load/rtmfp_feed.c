/* SPDX-License-Identifier: MIT */
/* rtmfp_feed.c - a file as messages of a publisher of RTMFP, each when it is due. */
#include "tools/load/rtmfp_feed.h"

#include "base/must.h"
#include "format/flv/flv.h"
#include "proto/rtmfp/rtmp.h"
#include "tools/load/marker.h"
#include "tools/load/run.h"

#include <stdlib.h>

#define LATE CO_SECONDS(1) /* video that waits for longer is given up */

static struct rtmfp_flow_out *flow_of(const struct load_rtmfp_feed *f, uint8_t type)
{
    return type == FLV_VIDEO ? f->video : type == FLV_AUDIO ? f->audio : f->data;
}

/* The message with `extra` put in at its offset `at`. */
static void say(struct load_rtmfp_feed *f, const struct load_message *msg, size_t at,
                const void *extra, size_t extra_size, bool keep)
{
    struct rtmfp_flow_out *flow = flow_of(f, msg->type);
    size_t size = msg->size + extra_size;
    struct rtmfp_message *m;
    struct wr w;

    f->stat->messages++;
    if (!flow)
        return;
    m = must(rtmfp_message_of(msg->type, (uint32_t)f->next_time, size,
                              f->from + CO_MS(f->next_time)));
    w = rtmfp_wr(m->bytes + RTMFP_MESSAGE_HEAD, size);
    wr_bytes(&w, msg->data, at);
    wr_bytes(&w, extra, extra_size);
    wr_bytes(&w, msg->data + at, msg->size - at);
    if (!rtmfp_flow_out_write(flow, m, keep))
        f->stat->rtmfp.unsent++;
    rtmfp_message_unref(m);
}

static void say_heads(struct load_rtmfp_feed *f)
{
    static const uint8_t set_data_frame[] = "\x02\x00\x0d@setDataFrame";

    for (size_t i = 0; i < f->media->head_count; i++) {
        const struct load_message *msg = &f->media->heads[i];
        bool meta = msg->type == FLV_DATA && msg->size > 3 && msg->data[3] == 'o';

        say(f, msg, 0, set_data_frame, meta ? sizeof(set_data_frame) - 1 : 0, true);
    }
}

static void say_media(struct load_rtmfp_feed *f)
{
    const struct load_message *msg = f->next;
    struct load_marker m = { .number = f->number };
    uint8_t bytes[LOAD_MARKER_SIZE];
    size_t n = 0;

    if (msg->marker && f->marker) {
        m.time = load_wall();
        n = load_marker_build(bytes, msg->codec, &m);
        f->number++;
    }
    if (msg->type == FLV_VIDEO && msg->key)
        f->until_key = false;
    if (msg->type == FLV_VIDEO && f->until_key)
        f->stat->rtmfp.unsent++;
    else
        say(f, msg, msg->marker, bytes, n, msg->type != FLV_VIDEO);
}

bool load_rtmfp_feed_begin(struct load_rtmfp_feed *f, struct rtmfp_session *s,
                           struct rtmfp_flow_out *data, const struct rtmfp_flow_in *control,
                           co_usec now)
{
    struct rtmfp_bytes metadata = rtmfp_bytes(data->metadata, data->metadata_size);

    f->data = data;
    f->audio = rtmfp_flow_open(s, metadata, control, RTMFP_AUDIO);
    f->video = rtmfp_flow_open(s, metadata, control, RTMFP_VIDEO);
    f->from = now;
    f->next_time = 0;
    load_play_begin(&f->play, f->media, (unsigned)rand());
    if (!f->audio || !f->video)
        return false;
    say_heads(f);
    f->next = load_play_next(&f->play, f->media, &f->next_time);
    return true;
}

void load_rtmfp_feed_run(struct load_rtmfp_feed *f, co_usec now)
{
    unsigned gone = f->video && f->video->waiting_n > 0
                        ? rtmfp_flow_out_abandon(f->video, now - LATE)
                        : 0;

    f->stat->rtmfp.unsent += gone;
    f->until_key |= gone > 0;
    while (load_rtmfp_feed_due(f) <= now) {
        load_hist_add(&f->stat->lag, now - load_rtmfp_feed_due(f));
        say_media(f);
        f->next = load_play_next(&f->play, f->media, &f->next_time);
    }
}

co_usec load_rtmfp_feed_due(const struct load_rtmfp_feed *f)
{
    return f->next ? f->from + CO_MS(f->next_time) : CO_FOREVER;
}

void load_rtmfp_feed_forget(struct load_rtmfp_feed *f, const struct rtmfp_flow_out *flow)
{
    struct rtmfp_flow_out **all[] = { &f->data, &f->audio, &f->video };

    for (int i = 0; i < 3; i++)
        if (*all[i] == flow)
            *all[i] = NULL;
}
