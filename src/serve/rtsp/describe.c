/* SPDX-License-Identifier: MIT */
/* describe.c - a live stream as a session description. */
#include "format/frame.h"
#include "format/rtp/formats.h"
#include "proto/sdp/sdp.h"
#include "serve/rtsp/conn.h"
#include "wire/rtp.h"

#include <stdio.h>

enum { CONFIGS = 8 };

/* The configuration of that kind which is in force; false: none, or none that RTP carries. */
static bool config_of(const struct rtsp_conn *c, enum av_kind kind, struct frame *out)
{
    const struct av_packet *pkts[CONFIGS];
    size_t n = live_source_configs(c->base.src, pkts, CONFIGS);

    for (size_t i = 0; i < n; i++) {
        struct frame_reader r;

        frame_begin(&r, pkts[i]);
        while (frame_next(&r, out)) {
            if (out->kind == kind && out->config && rtp_format_of(out->codec))
                return true;
        }
    }
    return false;
}

/* Codecs without a configuration (MP3, G.711) need a frame of theirs: not here yet. */
static void put_track(struct wr *w, const struct frame *f, unsigned track)
{
    struct rtp_map map;
    char control[32];
    struct wr fmtp;

    if (!rtp_map_of(&map, f->codec, f->data, f->size))
        return;
    (void)snprintf(control, sizeof(control), "trackID=%u", track);
    wr_init(&fmtp, 16384);
    rtp_fmtp_write(&fmtp, f->codec, f->data, f->size);
    sdp_put_media(w, &(struct sdp_media_out){
        .kind = f->kind == AV_VIDEO ? SDP_VIDEO : SDP_AUDIO,
        .type = map.fixed ? map.type : track ? RTP_WIRE_TYPE_AUDIO : RTP_WIRE_TYPE_VIDEO,
        .name = map.fixed ? NULL : map.name, .clock = map.clock, .channels = map.channels,
        .fmtp = (const char *)fmtp.buf, .fmtp_size = fmtp.len, .control = control });
    wr_free(&fmtp);
}

unsigned rtsp_conn_tracks(const struct rtsp_conn *c)
{
    struct frame f;

    return (config_of(c, AV_VIDEO, &f) ? RTP_WIRE_VIDEO : 0u) |
           (config_of(c, AV_AUDIO, &f) ? RTP_WIRE_AUDIO : 0u);
}

bool rtsp_conn_describe(const struct rtsp_conn *c, struct wr *sdp)
{
    struct frame f;

    sdp_put_session(sdp, &(struct sdp_session_out){
        .id = (uint64_t)c->base.began_at, .version = 1, .name = c->base.names.name,
        .duration = -1 });
    if (config_of(c, AV_VIDEO, &f))
        put_track(sdp, &f, 0);
    if (config_of(c, AV_AUDIO, &f))
        put_track(sdp, &f, 1);
    return rtsp_conn_tracks(c) != 0;
}
