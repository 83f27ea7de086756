/* SPDX-License-Identifier: MIT */
/* play_report.c - reports to and from a player: [RFC 3550] 6.4, [RFC 4585], [RFC 5104], [RFC
 * 3611]. */
#include "serve/rtc/play.h"

#include "live/policy.h"
#include "proto/rtp/sender.h"

#include <stdio.h>

enum { REPORT_MAX = 256 };

/* Minimum time between key frames for a player that requests them. */
#define KEY_EVERY CO_MS(500)
#define KEY_AGE CO_SECONDS(2)
#define KEY_THIN CO_SECONDS(5)
/* A player that requests one this early lost its first packets, sent right after the handshake. It
 * gets the same key frame again, since some publishers ignore such requests. */
#define BEGIN CO_SECONDS(2)
#define CLOCK_EVERY CO_MS(100) /* minimum time between clock reports */

/* ---- reports sent */

/* Writes a sender report with the current clock, if the track has sent packets. */
static bool put_report(struct rtc_peer *p, unsigned i, struct wr *w)
{
    struct rtc_play_track *t = &p->play->tracks[i];
    int64_t now = co_wall_ms() * 1000, ticks, at;
    struct rtcp_sr sr;

    if (t->packets == 0 || t->clock == 0 ||
        !rtc_wire_moment(rtc_stream_wire(p->base.stream), i == 0 ? AV_VIDEO : AV_AUDIO, &ticks,
                         &at))
        return false;
    ticks += (now - at) * (int64_t)t->clock / 1000000;
    sr = (struct rtcp_sr){ .ntp = rtcp_ntp(now), .time = t->base + (uint32_t)(uint64_t)ticks,
                           .packets = t->packets, .bytes = t->bytes };
    rtcp_put_sr(w, t->ssrc, &sr);
    rtcp_put_cname(w, t->ssrc, p->base.cid);
    t->reported = true;
    return true;
}

/* Requests key frames at intervals for a player that gets only those, in case the publisher sends
 * none by itself: the player needs them to show something, and to get more again. */
static void request_key_for_slow(struct rtc_peer *p, co_usec now)
{
    struct rtc_play *play = p->play;
    struct rtc_peer *publisher = rtc_stream_publisher(p->base.stream);

    if (play->takes != RTC_QUALITY_KEYS || !publisher || now - play->asked < KEY_THIN)
        return;
    play->asked = now;
    rtc_publish_request_key(publisher, now);
}

void rtc_play_report(struct rtc_peer *p, co_usec now)
{
    struct wr w;
    bool any = false;

    request_key_for_slow(p, now);
    wr_init(&w, REPORT_MAX);
    for (unsigned i = 0; i < RTP_LOG_TRACKS; i++)
        any |= put_report(p, i, &w);
    p->play->report_due = false;
    if (any && !w.bad)
        rtc_peer_rtcp(p, w.buf, w.len);
    wr_free(&w);
}

/* ---- reports received */

static struct rtc_play_track *track_of(struct rtc_play *play, uint32_t ssrc)
{
    for (unsigned i = 0; i < RTP_LOG_TRACKS; i++) {
        if (play->tracks[i].on && play->tracks[i].ssrc == ssrc)
            return &play->tracks[i];
    }
    return NULL;
}

static void on_block(struct rtc_play *play, const struct rtcp_block *b, co_usec now)
{
    struct rtc_play_track *t = track_of(play, b->ssrc);
    co_usec rtt = rtcp_round_trip(co_wall_ms() * 1000, b->last_sr, b->delay);

    if (!t)
        return;
    if (t == &play->tracks[0])
        (void)rtc_quality_input(&play->quality, b->highest, b->lost > 0 ? (uint32_t)b->lost : 0,
                            rtt < CO_SECONDS(10) ? rtt : 0, now);
    t->lost = b->lost > 0 ? (uint32_t)b->lost : 0;
    t->jitter = b->jitter;
    t->loss = b->fraction;
    if (rtt > 0 && rtt < CO_SECONDS(10))
        play->rtt = play->rtt ? (7 * play->rtt + rtt) / 8 : rtt;
}

/* An RTMP publisher cannot be asked for a key frame: the player gets the newest one, or the
 * next. */
static void on_key_request(struct rtc_peer *p, co_usec now)
{
    struct rtc_play *play = p->play;
    struct rtc_peer *publisher = rtc_stream_publisher(p->base.stream);
    bool begins;

    play->plis++;
    p->service->stat.plis++;
    if (play->asked && now - play->asked < KEY_EVERY)
        return;
    play->asked = now;
    begins = now - p->connected < BEGIN;
    if (publisher)
        rtc_publish_request_key(publisher, now);
    if ((!publisher || begins) && !play->waits &&
        rtc_play_jump(p, begins ? LIVE_PREFETCH : KEY_AGE, now))
        rtc_stream_late(p);
}

/* [RFC 3611] 4.5: tells the player the round trip time, so that it knows when to repeat NACKs. */
static void on_clock(struct rtc_peer *p, const struct rtcp_packet *packet, co_usec now)
{
    struct rtc_play *play = p->play;
    const struct rtc_play_track *t = &play->tracks[play->tracks[0].on ? 0 : 1];
    uint64_t ntp;
    struct wr w;

    if (!rtcp_rrtr(packet, &ntp) || (play->clock_at && now - play->clock_at < CLOCK_EVERY))
        return;
    play->clock_at = now;
    wr_init(&w, REPORT_MAX);
    if (put_report(p, (unsigned)(t - play->tracks), &w)) {
        rtcp_put_dlrr(&w, t->ssrc, packet->ssrc, (uint32_t)(ntp >> 16), 0);
        if (!w.bad)
            rtc_peer_rtcp(p, w.buf, w.len);
    }
    wr_free(&w);
}

static void on_feedback(struct rtc_peer *p, const struct rtcp_packet *packet, co_usec now)
{
    struct rtcp_feedback f;

    if (!rtcp_feedback(packet, &f))
        return;
    switch (f.kind) {
    case RTCP_NACK:
        rtc_play_nack(p, &f, now);
        break;
    case RTCP_PLI:
    case RTCP_FIR:
        on_key_request(p, now);
        break;
    default:
        break;
    }
}

void rtc_play_rtcp(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now)
{
    struct rtcp_reader r;
    struct rtcp_packet packet;
    struct rtcp_block b;

    if (!p->play || !datagram_stream_has(&p->base.player) || p->base.state != DATAGRAM_ACTIVE)
        return;
    rtcp_begin(&r, data, size);
    while (rtcp_next(&r, &packet)) {
        if (packet.type == RTCP_SR || packet.type == RTCP_RR) {
            while (rtcp_next_block(&packet, &b))
                on_block(p->play, &b, now);
        } else if (packet.type == RTCP_XR) {
            on_clock(p, &packet, now);
        } else {
            on_feedback(p, &packet, now);
        }
    }
}

void rtc_play_stat(const struct rtc_peer *p, struct rtc_client_stat *out)
{
    const struct rtc_play *play = p->play;
    uint64_t frames, b_frames;

    for (unsigned i = 0; i < RTP_LOG_TRACKS; i++) {
        const struct rtc_play_track *t = &play->tracks[i];
        co_usec jitter = t->clock ? (co_usec)t->jitter * 1000000 / t->clock : 0;

        out->lost += t->lost;
        out->jitter = jitter > out->jitter ? jitter : out->jitter;
    }
    out->nacks = play->nacks;
    out->retransmitted = play->retransmitted;
    out->plis = play->plis;
    out->rtt = play->rtt;
    out->takes = rtc_quality_name(play->takes);
    rtc_wire_order(rtc_stream_wire(p->base.stream), &frames, &b_frames);
    if (b_frames > 0)
        (void)snprintf(out->video_left_out, sizeof(out->video_left_out),
                       "B-frames: %llu of %llu frames left out", (unsigned long long)b_frames,
                       (unsigned long long)frames);
    out->left_out = play->left_out;
}
