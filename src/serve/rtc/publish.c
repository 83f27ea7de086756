/* SPDX-License-Identifier: MIT */
/* publish.c - a WebRTC publisher: admission, checks, end.
 *
 * The reader of the socket handles its packets: they are relayed to WebRTC players at once, and
 * assembled into frames for all others. The coroutine of the publisher checks it once a second.
 */
#include "base/container_of.h"
#include "base/log.h"
#include "base/must.h"
#include "serve/rtc/publish_impl.h"
#include "audio/transcoder/transcoder.h"
#include "audio/lib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VIDEO_WINDOW = 1024, AUDIO_WINDOW = 128 };

#define LOOK CO_SECONDS(1)
/* The session timer closes silent publishers, so the publisher itself may be silent as long as it
 * likes. */
#define ANY_SILENCE CO_SECONDS(1000000)

/* ---- admission */

/* Marks the parameters, so that backends see that it is WebRTC. */
static void mark_param(struct rtc_peer *p, struct rtc_publish *pub)
{
    const char *param = p->base.session.names.param ? p->base.session.names.param : "";
    size_t size = strlen(param) + sizeof("?&upstream=rtc");

    pub->asked_param = p->base.session.names.param;
    if (strstr(param, "upstream=rtc"))
        return;
    pub->param = must(malloc(size));
    (void)snprintf(pub->param, size, "%s%supstream=rtc", param, *param ? "&" : "?");
    p->base.session.names.param = pub->param;
}

static void free_publish(struct rtc_peer *p, struct rtc_publish *pub)
{
    p->base.session.names.param = pub->asked_param;
    for (unsigned i = 0; i < SDP_TRACKS; i++)
        rtp_nack_fini(&pub->tracks[i].nack);
    rtp_twcc_fini(&pub->twcc);
    rtp_intake_free(pub->intake);
    free(pub->param);
    free(pub);
}

static bool others_take(enum av_codec codec)
{
    return codec == AV_H264 || codec == AV_H265 || codec == AV_AV1 || codec == AV_VP9 ||
           codec == AV_OPUS;
}

static void take_in(const struct rtc_peer *p, struct rtc_publish *pub, struct publish_track *t)
{
    const struct sdp_track *sdp = t->sdp;
    const struct rtp_receiver_opts rx = {
        .type = sdp->type, .window = t->kind == AV_VIDEO ? VIDEO_WINDOW : AUDIO_WINDOW,
        .wait = publish_wait(p, t),
    };
    const struct rtp_intake_medium m = {
        .fmt = rtp_format_of(sdp->codec), .clock = sdp->clock, .channels = sdp->channels,
        .fmtp = { sdp->fmtp, strlen(sdp->fmtp) },
    };
    err_t err;

    if (!others_take(sdp->codec) || !m.fmt) {
        log_trace("RTC: %s is for players of WebRTC alone", av_codec_name(sdp->codec));
        return;
    }
    err = rtp_intake_add(pub->intake, &m, &t->number);
    if (err) {
        log_end("RTC: a track that only players of WebRTC can have", &err);
        return;
    }
    rtp_intake_open(pub->intake, t->number, &rx);
    t->taken = true;
}

static void begin_intake(struct rtc_peer *p, struct rtc_publish *pub)
{
    const struct rtp_intake_opts opts = {
        .signature = p->base.session.env->signature,
        .aac_bitrate = p->base.session.vhost->rtc.aac_bitrate,
        .transcoders = audio_lib_ready() ? &p->service->base.group : NULL,
        .publisher = &pub->publisher.place,
    };

    if (!p->base.session.vhost->rtc.rtc_to_rtmp)
        return;
    pub->intake = rtp_intake_new(&opts);
    for (unsigned i = 0; i < SDP_TRACKS; i++) {
        if (pub->tracks[i].sdp->on)
            take_in(p, pub, &pub->tracks[i]);
    }
    rtp_intake_begin(pub->intake, p->base.session.src);
}

/* Other protocols get its Opus as AAC, if the vhost converts. */
static void prepare_audio(const struct rtc_peer *p)
{
    const struct sdp_track *audio = &p->agreed.tracks[AV_AUDIO];

    if (p->base.session.vhost->rtc.rtc_to_rtmp && audio->on && audio->codec == AV_OPUS &&
        !transcoder_prepare())
        transcoder_lacks(p->base.session.names.key->path, "its audio stays Opus, which few "
                         "players over RTMP and HTTP-FLV support");
}

static void begin_tracks(struct rtc_peer *p, struct rtc_publish *pub)
{
    bool twcc = p->base.session.vhost->rtc.twcc;

    for (unsigned i = 0; i < SDP_TRACKS; i++) {
        const struct sdp_track *sdp = &p->agreed.tracks[i];

        pub->tracks[i].sdp = sdp;
        pub->tracks[i].kind = i == AV_VIDEO ? AV_VIDEO : AV_AUDIO;
        if (sdp->on && twcc && sdp->feedback & SDP_FB_TWCC && sdp->ext[SDP_EXT_TWCC])
            pub->twcc_id = sdp->ext[SDP_EXT_TWCC];
    }
}

static void begin_relay(struct rtc_peer *p, struct rtc_publish *pub)
{
    enum av_codec codec[RTP_LOG_TRACKS];

    for (unsigned i = 0; i < RTP_LOG_TRACKS; i++) {
        const struct sdp_track *sdp = &p->agreed.tracks[i];

        codec[i] = sdp->on ? sdp->codec : AV_CODEC_NONE;
    }
    p->base.stream = rtc_stream_get(p->service, p->base.session.src);
    pub->wire = rtc_stream_wire(p->base.stream);
    rtc_wire_relay_begin(pub->wire, codec);
    rtc_stream_set_publisher(p->base.stream, p);
}

err_t rtc_publish_admit(struct rtc_peer *p)
{
    struct rtc_publish *pub = must(calloc(1, sizeof(*pub)));
    err_t err;

    mark_param(p, pub);
    prepare_audio(p);
    err = session_publisher_begin(&pub->publisher, &p->base.session, CLIENTS_RTC_PUBLISH);
    if (err) {
        free_publish(p, pub);
        return err;
    }
    session_publisher_silence(&pub->publisher, ANY_SILENCE);
    begin_tracks(p, pub);
    begin_intake(p, pub);
    begin_relay(p, pub);
    p->publish = pub;
    return NULL;
}

/* ---- end */

static void log_end_of(const struct rtc_peer *p)
{
    const struct rtc_publish *pub = p->publish;
    const struct publish_track *v = &pub->tracks[AV_VIDEO], *a = &pub->tracks[AV_AUDIO];
    struct rtp_intake_stat frames = { 0 };

    if (pub->intake)
        rtp_intake_stat(pub->intake, &frames);
    log_trace("RTC publisher of %s sent packets: video=%llu, audio=%llu, lost=%llu, "
              "asked=%llu, repeated=%llu, doubled=%llu, left out=%llu; PLI=%llu, feedback=%llu; "
              "frames=%llu, broken=%llu, waiting=%llu", live_source_name(p->base.session.src),
              (unsigned long long)v->stats.packets, (unsigned long long)a->stats.packets,
              (unsigned long long)publish_lost(pub),
              (unsigned long long)(v->nack.requested + a->nack.requested),
              (unsigned long long)(v->nack.recovered + a->nack.recovered),
              (unsigned long long)pub->doubled, (unsigned long long)pub->left_out,
              (unsigned long long)pub->plis, (unsigned long long)pub->feedbacks,
              (unsigned long long)frames.frames, (unsigned long long)frames.broken,
              (unsigned long long)frames.waiting);
}

/* A publisher that took over already relays. */
static void end_relay(struct rtc_peer *p)
{
    if (rtc_stream_publisher(p->base.stream) == p) {
        rtc_stream_set_publisher(p->base.stream, NULL);
        rtc_wire_relay_end(p->publish->wire);
    }
    datagram_stream_put(p->base.stream);
    p->base.stream = NULL;
}

void rtc_publish_end(struct rtc_peer *p, err_t why)
{
    struct rtc_publish *pub = p->publish;

    co_timer_cancel(&pub->timer);
    if (p->connected)
        log_end_of(p);
    end_relay(p);
    rtp_intake_end(pub->intake);
    p->publish = NULL;
    session_publisher_end(&pub->publisher, why);
    free_publish(p, pub);
}

/* ---- coroutine */

static void log_sample(struct session_publisher *publisher, co_usec now)
{
    const struct rtc_peer *p = container_of(publisher->s, struct rtc_peer, base.session);
    const struct rtc_publish *pub = p->publish;
    const struct session *s = publisher->s;

    log_always(LOG_TRACE,
               "%s time=%lld, packets=%llu, lost=%llu, PLI=%llu, rtt=%lld ms, okbps=" KBPS_FMT
               ", ikbps=" KBPS_FMT, sampled_name(SAMPLED_RTC_PUBLISH),
               us_to_ms(now - s->began_at),
               (unsigned long long)(pub->tracks[AV_VIDEO].stats.packets +
                                    pub->tracks[AV_AUDIO].stats.packets),
               (unsigned long long)publish_lost(pub), (unsigned long long)pub->plis,
               us_to_ms(pub->rtt), KBPS_ARGS(&s->out_kbps), KBPS_ARGS(&s->in_kbps));
}

err_t rtc_publish_run(struct rtc_peer *p)
{
    struct rtc_publish *pub = p->publish;
    err_t err = co_check();

    pub->publisher.sampled = SAMPLED_RTC_PUBLISH;
    pub->publisher.log_sample = log_sample;
    co_stack_trim();
    while (!err) {
        bool changed;

        (void)!co_park(co_to_second(LOOK * 2, co_now()));
        err = session_publisher_turn(&pub->publisher, &changed);
    }
    return err;
}

void rtc_publish_connected(struct rtc_peer *p, co_usec now)
{
    publish_begin_reports(p, now);
}

uint32_t rtc_publish_source(const struct rtc_peer *publisher, enum av_kind kind, int64_t *shift)
{
    const struct publish_track *t = &publisher->publish->tracks[kind];

    *shift = t->shift;
    return t->started ? t->ssrc : t->sdp->ssrc;
}

void rtc_publish_stat(const struct rtc_peer *p, struct rtc_client_stat *out)
{
    const struct rtc_publish *pub = p->publish;

    out->lost += publish_lost(pub);
    out->plis += pub->plis;
    out->rtt = pub->rtt;
    for (unsigned i = 0; i < SDP_TRACKS; i++) {
        const struct publish_track *t = &pub->tracks[i];
        co_usec jitter = t->started ? (co_usec)(rtp_stats_jitter(&t->stats) * 1e6) : 0;

        out->nacks += t->nack.requested;
        out->retransmitted += t->nack.recovered;
        if (jitter > out->jitter)
            out->jitter = jitter;
    }
}
