/* SPDX-License-Identifier: MIT */
/* rtsp_describe.c - a stream as a session description. */
#include "wire/rtsp_describe.h"

#include "format/rtp/formats.h"
#include "live/track_events.h"

#include <stdio.h>

enum { FMTP_MAX = 16 * 1024 };

/* How long after the first key frame of a single track the other track may appear. */
#define OTHER_COMES CO_SECONDS(1)

unsigned rtsp_describe_tracks(const struct live_source *src)
{
    struct rtp_wire_track t[RTP_WIRE_N];

    rtp_wire_tracks(src, t);
    return (t[0].codec ? RTP_WIRE_VIDEO : 0u) | (t[1].codec ? RTP_WIRE_AUDIO : 0u);
}

bool rtsp_describe_is_rtmp(const struct live_source *src)
{
    const struct av_packet *pkts[LIVE_CONFIGS];
    size_t n = live_source_configs(src, pkts, LIVE_CONFIGS);

    for (size_t i = 0; i < n; i++) {
        if (pkts[i]->kind != AV_DATA && pkts[i]->origin)
            return true;
    }
    return false;
}

/* Returns true if RTP has no format for the codec. */
static bool is_other(enum av_codec codec)
{
    return codec && !rtp_format_of(codec);
}

enum rtsp_described rtsp_describe_state(const struct live_source *src, co_usec *rest)
{
    unsigned tracks = rtsp_describe_tracks(src), others;
    struct live_source_stat stat;

    live_source_stat(src, &stat);
    *rest = CO_FOREVER;
    if (!stat.publishing)
        return RTSP_DESCRIBE_WAIT;
    others = (is_other(stat.video) ? RTP_WIRE_VIDEO : 0u) |
             (is_other(stat.audio) ? RTP_WIRE_AUDIO : 0u);
    if ((tracks | others) != (RTP_WIRE_VIDEO | RTP_WIRE_AUDIO)) {
        if (stat.shown_for < 0)
            return RTSP_DESCRIBE_WAIT;
        *rest = OTHER_COMES - stat.shown_for;
        if (*rest > 0)
            return RTSP_DESCRIBE_WAIT;
    }
    *rest = 0;
    return tracks ? RTSP_DESCRIBE_DONE : RTSP_DESCRIBE_NONE;
}

err_t rtsp_describe_wait(struct live_source *src, co_usec most, enum rtsp_described *out)
{
    co_usec until = co_now() + most, rest;
    err_t err = NULL;

    live_source_refresh(src);
    for (;;) {
        co_usec left = until - co_now();

        *out = rtsp_describe_state(src, &rest);
        if (err || *out != RTSP_DESCRIBE_WAIT || left <= 0)
            break;
        err = live_track_events_wait(src, rest != CO_FOREVER && rest < left ? rest : left);
    }
    if (*out == RTSP_DESCRIBE_WAIT && rtsp_describe_tracks(src))
        *out = RTSP_DESCRIBE_DONE;
    return err;
}

static void put_track(struct wr *sdp, const struct rtp_wire_track *t, unsigned track,
                      unsigned kbits)
{
    struct rtp_map map;
    char control[32];
    struct wr fmtp;

    if (!t->codec || !rtp_map_of(&map, t->codec, t->config, t->size))
        return;
    (void)snprintf(control, sizeof(control), "trackID=%u", track);
    wr_init(&fmtp, FMTP_MAX);
    rtp_fmtp_write(&fmtp, t->codec, t->config, t->size);
    sdp_put_media(sdp, &(struct sdp_media_out){
        .kind = track == 0 ? SDP_VIDEO : SDP_AUDIO, .type = rtp_wire_type(t->codec),
        .name = map.fixed ? NULL : map.name, .clock = map.clock, .channels = map.channels,
        .fmtp = (const char *)fmtp.buf, .fmtp_size = fmtp.bad ? 0 : fmtp.len,
        .control = control, .kbits = kbits });
    wr_free(&fmtp);
}

void rtsp_describe_put(const struct sdp_session_out *session,
                       const struct rtp_wire_track tracks[RTP_WIRE_N],
                       const unsigned kbits[RTP_WIRE_N], struct wr *sdp)
{
    sdp_put_session(sdp, session);
    for (unsigned i = 0; i < RTP_WIRE_N; i++)
        put_track(sdp, &tracks[i], i, kbits[i]);
}

void rtsp_describe_live(const struct live_source *src, const struct sdp_session_out *session,
                        struct wr *sdp)
{
    struct rtp_wire_track tracks[RTP_WIRE_N];
    unsigned kbits[RTP_WIRE_N];

    rtp_wire_tracks(src, tracks);
    rtsp_describe_rates(src, kbits);
    rtsp_describe_put(session, tracks, kbits, sdp);
}
