/* SPDX-License-Identifier: MIT */
/* play_spec.c - the codecs of a stream, for the negotiation with a player. */
#include "serve/rtc/play.h"

#include "base/text.h"
#include "audio/decoder.h"

#include <stdlib.h>
#include <string.h>

enum { OPUS_CHANNELS = 9 };

/* without the other kind for this long, it will not come */
#define SHOWN CO_SECONDS(1)

/* ---- other publishers */

static void by_configs(const struct live_source *src, struct sdp_spec *spec)
{
    const struct av_packet *v[LIVE_CONFIGS];
    size_t n = live_source_configs(src, v, LIVE_CONFIGS);
    struct live_source_stat stat;

    live_source_stat(src, &stat);
    if (stat.audio != AV_OPUS && spec->codec[AV_AUDIO] == AV_OPUS)
        spec->channels = AUDIO_CHANNELS; /* it is converted */

    for (size_t i = 0; i < n; i++) {
        const uint8_t *config = av_packet_payload(v[i]);
        size_t size = av_packet_payload_size(v[i]);

        if (v[i]->codec == AV_H264 && size > 3 && spec->codec[AV_VIDEO] == AV_H264)
            memcpy(spec->profile, config + 1, sizeof(spec->profile));
        if (v[i]->codec == AV_OPUS && size > OPUS_CHANNELS)
            spec->channels = config[OPUS_CHANNELS];
    }
}

/* Whether a stream has only audio or only video is known after a while. */
static void find_missing(const struct live_source *src, struct sdp_spec *spec)
{
    struct live_source_stat stat;

    live_source_stat(src, &stat);
    if (!stat.publishing)
        return;
    if (spec->codec[AV_AUDIO] == AV_CODEC_NONE && spec->codec[AV_VIDEO] != AV_CODEC_NONE)
        spec->none[AV_AUDIO] = stat.audio != AV_CODEC_NONE || stat.shown_for > SHOWN;
    if (spec->codec[AV_VIDEO] == AV_CODEC_NONE && spec->codec[AV_AUDIO] != AV_CODEC_NONE)
        spec->none[AV_VIDEO] = stat.video != AV_CODEC_NONE || stat.audio_packets > 50;
}

/* ---- WebRTC publishers: the negotiated codecs */

static void by_publisher(const struct rtc_peer *publisher, struct sdp_spec *spec)
{
    const struct sdp_track *v = &publisher->agreed.tracks[AV_VIDEO];
    const struct sdp_track *a = &publisher->agreed.tracks[AV_AUDIO];
    const char *profile = strstr(v->fmtp, "profile-level-id=");

    spec->none[AV_VIDEO] = !v->on;
    spec->none[AV_AUDIO] = !a->on;
    spec->channels = a->on && a->stereo ? 2 : 1;
    if (v->codec == AV_H264 && profile) {
        unsigned long id = strtoul(profile + strlen("profile-level-id="), NULL, 16);

        spec->profile[0] = (uint8_t)(id >> 16);
        spec->profile[1] = (uint8_t)(id >> 8);
        spec->profile[2] = (uint8_t)id;
    }
}

void rtc_play_spec(const struct rtc_peer *p, struct sdp_spec *spec)
{
    const struct rtc_wire *wire;
    const struct rtc_peer *publisher;

    if (p->base.publishes || !p->base.stream)
        return;
    live_source_refresh(p->base.session.src);
    wire = rtc_stream_wire(p->base.stream);
    publisher = rtc_stream_publisher(p->base.stream);
    spec->codec[AV_VIDEO] = rtc_wire_codec(wire, AV_VIDEO);
    spec->codec[AV_AUDIO] = rtc_wire_codec(wire, AV_AUDIO);
    spec->playout_delay = p->base.session.vhost->rtc.min_latency;
    if (publisher) {
        by_publisher(publisher, spec);
    } else {
        by_configs(p->base.session.src, spec);
        find_missing(p->base.session.src, spec);
    }
}

uint32_t rtc_play_source(const struct rtc_peer *p, enum av_kind kind)
{
    const struct rtc_peer *publisher = p->base.stream ? rtc_stream_publisher(p->base.stream) : NULL;
    int64_t shift;

    if (!p->base.session.vhost->rtc.keep_original_ssrc || !publisher)
        return 0;
    return rtc_publish_source(publisher, kind, &shift);
}
