/* SPDX-License-Identifier: MIT */
/* publish_reports.c - reports and requests to a publisher, and the reports it sends. */
#include "base/container_of.h"
#include "base/log.h"
#include "proto/rtp/feedback.h"
#include "serve/rtc/publish_impl.h"

enum { COMPOUND = 1200, ASKED_AT_ONCE = 200, REMB_DEFAULT = 20000000 };

#define REPORT_EACH CO_SECONDS(1)
#define KEY_EACH CO_MS(500)      /* minimum time between requests, for all players together */
#define RTT_DEFAULT CO_MS(50)
#define WAIT_LEAST CO_MS(400)    /* for requested packets */
#define WAIT_MOST CO_SECONDS(1)
#define WAIT_IN_VAIN CO_MS(100)  /* without requests, for late packets */

static struct wr compound(uint8_t buf[COMPOUND])
{
    return (struct wr){ .buf = buf, .cap = COMPOUND, .limit = COMPOUND };
}

static void send_it(struct rtc_peer *p, const struct wr *w)
{
    if (!w->bad && w->len > 0)
        rtc_peer_rtcp(p, w->buf, w->len);
}

static co_usec round_trip(const struct rtc_publish *pub)
{
    return pub->rtt > 0 ? pub->rtt : RTT_DEFAULT;
}

uint64_t publish_lost(const struct rtc_publish *pub)
{
    uint64_t lost = 0;

    for (unsigned i = 0; i < SDP_TRACKS; i++)
        lost += pub->tracks[i].started ? rtp_stats_lost(&pub->tracks[i].stats) : 0;
    return lost;
}

static uint64_t publish_found(const struct rtc_publish *pub)
{
    uint64_t found = 0;

    for (unsigned i = 0; i < SDP_TRACKS; i++)
        found += pub->tracks[i].nack.recovered;
    return found;
}

/* ---- missing packets */

bool publish_requests_missing(const struct rtc_peer *p, const struct publish_track *t)
{
    return p->base.session.vhost->rtc.nack && t->sdp->feedback & SDP_FB_NACK;
}

co_usec publish_wait(const struct rtc_peer *p, const struct publish_track *t)
{
    co_usec wait = p->publish ? round_trip(p->publish) * 3 : 0;

    if (!publish_requests_missing(p, t))
        return WAIT_IN_VAIN;
    if (wait < WAIT_LEAST)
        return WAIT_LEAST;
    return wait < WAIT_MOST ? wait : WAIT_MOST;
}

static void learn_round_trip(struct rtc_peer *p, co_usec rtt)
{
    struct rtc_publish *pub = p->publish;

    if (rtt <= 0 || rtt > CO_SECONDS(5))
        return;
    pub->rtt = pub->rtt ? (pub->rtt * 7 + rtt) / 8 : rtt;
    for (unsigned i = 0; i < SDP_TRACKS; i++) {
        struct publish_track *t = &pub->tracks[i];

        if (t->taken)
            rtp_intake_wait(pub->intake, t->number, publish_wait(p, t));
    }
}

void publish_learn(struct rtc_peer *p, struct publish_track *t)
{
    if (!p->publish->echoes)
        learn_round_trip(p, t->nack.recovery_time);
    t->nack.recovery_time = 0;
}

static void request_again(struct rtc_peer *p, struct publish_track *t, co_usec now)
{
    uint8_t buf[COMPOUND];
    uint16_t seqs[ASKED_AT_ONCE];
    struct wr w = compound(buf);
    unsigned n = rtp_nack_request(&t->nack, now, round_trip(p->publish), seqs, ASKED_AT_ONCE);

    if (n == 0)
        return;
    rtcp_put_nack(&w, p->ssrc, t->ssrc, seqs, n);
    send_it(p, &w);
    p->service->stat.nacks_sent += n;
    p->service->stat.nacks_sent_audio += t->kind == AV_AUDIO ? n : 0;
}

/* ---- arrival times */

void publish_send_twcc(struct rtc_peer *p, co_usec now)
{
    struct rtc_publish *pub = p->publish;
    uint32_t media = pub->tracks[AV_VIDEO].started ? pub->tracks[AV_VIDEO].ssrc
                                                   : pub->tracks[AV_AUDIO].ssrc;
    uint8_t buf[COMPOUND];
    struct wr w = compound(buf);

    while (rtp_twcc_write(&pub->twcc, &w, p->ssrc, media, now)) {
        send_it(p, &w);
        w.len = 0;
        pub->feedbacks++;
        p->service->stat.twcc_sent++;
    }
}

/* ---- publishers that wait for packets
 *
 * FFmpeg 8 and 9 with GnuTLS, as the DTLS server, read a datagram before each frame they send, and
 * block until one arrives. So each frame of a publisher that may be one is answered with an empty
 * report. Some are sent in advance, and with each report, to allow several frames in flight.
 */

enum { REPORTS_AHEAD = 16 };

static void send_empty_reports(struct rtc_peer *p, unsigned times)
{
    uint8_t buf[COMPOUND];
    struct wr w = compound(buf);

    rtcp_put_rr(&w, p->ssrc, NULL, 0);
    for (unsigned i = 0; p->publish->waits && i < times; i++)
        send_it(p, &w);
}

void publish_answer_frame(struct rtc_peer *p)
{
    send_empty_reports(p, 1);
}

/* ---- key frames */

static void send_key_request(struct rtc_peer *p, const struct publish_track *t, co_usec now)
{
    struct rtc_publish *pub = p->publish;
    uint8_t buf[COMPOUND];
    struct wr w = compound(buf);

    if (t->sdp->feedback & SDP_FB_PLI)
        rtcp_put_pli(&w, p->ssrc, t->ssrc);
    else if (t->sdp->feedback & SDP_FB_FIR)
        rtcp_put_fir(&w, p->ssrc, t->ssrc, pub->firs++);
    pub->key_pending = false;
    pub->asked_key = now;
    if (w.len == 0)
        return; /* it supports no such request */
    send_it(p, &w);
    pub->plis++;
    p->service->stat.plis_sent++;
}

void publish_request_layer_key(struct rtc_peer *p, const struct publish_track *t,
                               struct publish_source *s, co_usec now)
{
    uint8_t buf[COMPOUND];
    struct wr w = compound(buf);

    if (!(t->sdp->feedback & SDP_FB_PLI) || (s->asked && now - s->asked < KEY_EACH))
        return;
    s->asked = now;
    rtcp_put_pli(&w, p->ssrc, s->ssrc);
    send_it(p, &w);
    p->publish->plis++;
    p->service->stat.plis_sent++;
}

/* A new track begins with a key frame, and one that has just begun is probably the requested
 * one. */
static bool is_under_way(const struct rtc_publish *pub, const struct publish_track *t, co_usec now)
{
    co_usec begun = t->key_at > t->first ? t->key_at : t->first;

    return begun > pub->asked_key && now - begun < KEY_EACH;
}

void publish_request_key(struct rtc_peer *p, co_usec now)
{
    struct rtc_publish *pub = p->publish;
    const struct publish_track *t = &pub->tracks[AV_VIDEO];

    if (!t->started || t->over || is_under_way(pub, t, now))
        return;
    if (pub->asked_key && now - pub->asked_key < KEY_EACH) {
        pub->key_pending = true;
        publish_due(p, pub->asked_key + KEY_EACH);
        return;
    }
    send_key_request(p, t, now);
}

void rtc_publish_request_key(struct rtc_peer *publisher, co_usec now)
{
    if (publisher->publish && publisher->base.state == DATAGRAM_ACTIVE)
        publish_request_key(publisher, now);
}

/* Repeats a request unless a key frame has begun since. */
static void repeat_key_request(struct rtc_peer *p, co_usec now)
{
    struct rtc_publish *pub = p->publish;

    if (!pub->key_pending || now - pub->asked_key < KEY_EACH)
        return;
    pub->key_pending = false;
    if (pub->tracks[AV_VIDEO].key_at <= pub->asked_key)
        publish_request_key(p, now);
}

/* Players over other protocols join at key frames but cannot request them. */
static bool others_watch(const struct rtc_peer *p)
{
    struct live_source_stat s;

    live_source_stat(p->base.session.src, &s);
    return s.consumers > 0 || live_source_idle_since(p->base.session.src) == 0;
}

static co_usec next_key(const struct rtc_peer *p)
{
    const struct rtc_publish *pub = p->publish;
    const struct publish_track *t = &pub->tracks[AV_VIDEO];
    co_usec last = t->key_at > pub->asked_key ? t->key_at : pub->asked_key;

    return t->taken && t->started ? last + p->base.session.vhost->rtc.pli_for_rtmp : CO_FOREVER;
}

static void request_key_for_others(struct rtc_peer *p, co_usec now)
{
    co_usec at = next_key(p);

    if (at != CO_FOREVER && now >= at && others_watch(p))
        publish_request_key(p, now);
}

/* ---- reports */

/* [RFC 3550] 6.4.1: LSR and DLSR. */
static struct rtcp_block block_of(struct publish_track *t, co_usec now)
{
    struct rtcp_block b = { .ssrc = t->ssrc };

    rtp_stats_report(&t->stats, &b);
    if (t->has_sr) {
        b.last_sr = (uint32_t)(t->sr.ntp >> 16);
        b.delay = (uint32_t)(((uint64_t)(now - t->sr_at) << 16) / CO_SECONDS(1));
    }
    return b;
}

/* For publishers without other feedback: the configured bit rate. */
static void put_remb(struct rtc_peer *p, struct wr *w)
{
    const struct rtc_publish *pub = p->publish;
    const struct publish_track *t = &pub->tracks[AV_VIDEO];
    int kbps = p->base.session.vhost->bandwidth.publish_kbps;

    if (t->started && !pub->twcc_id && t->sdp->feedback & SDP_FB_REMB)
        rtcp_put_remb(w, p->ssrc, kbps > 0 ? (uint64_t)kbps * 1000 : REMB_DEFAULT, &t->ssrc, 1);
}

static void report(struct rtc_peer *p, co_usec now)
{
    struct rtc_publish *pub = p->publish;
    struct rtcp_block blocks[SDP_TRACKS];
    uint8_t buf[COMPOUND];
    struct wr w = compound(buf);
    uint64_t lost = publish_lost(pub), found = publish_found(pub);
    unsigned n = 0;

    for (unsigned i = 0; i < SDP_TRACKS; i++) {
        if (pub->tracks[i].started && !pub->tracks[i].over)
            blocks[n++] = block_of(&pub->tracks[i], now);
    }
    rtcp_put_rr(&w, p->ssrc, blocks, n);
    rtcp_put_cname(&w, p->ssrc, p->base.cid);
    rtcp_put_rrtr(&w, p->ssrc, rtcp_ntp(co_wall_ms() * 1000));
    put_remb(p, &w);
    send_it(p, &w);
    send_empty_reports(p, REPORTS_AHEAD);
    if (lost > pub->lost_reported)
        p->service->stat.recv_lost += lost - pub->lost_reported;
    pub->lost_reported = lost;
    p->service->stat.nacks_found += found - pub->recovered_reported;
    p->service->stat.reports_sent++;
    pub->recovered_reported = found;
    pub->report_at = now + REPORT_EACH;
}

/* ---- timer */

static co_usec earlier(co_usec a, co_usec b)
{
    if (a == CO_FOREVER || b == CO_FOREVER)
        return a == CO_FOREVER ? b : a;
    return a < b ? a : b;
}

static co_usec next_due(const struct rtc_peer *p, co_usec now)
{
    const struct rtc_publish *pub = p->publish;
    co_usec due = earlier(pub->report_at, rtp_twcc_due(&pub->twcc)), key = next_key(p);

    for (unsigned i = 0; i < SDP_TRACKS; i++)
        due = earlier(due, rtp_nack_due(&pub->tracks[i].nack, round_trip(pub)));
    if (pub->intake)
        due = earlier(due, rtp_intake_due(pub->intake));
    if (pub->key_pending)
        due = earlier(due, pub->asked_key + KEY_EACH);
    if (key > now) /* without players, checked again at each report */
        due = earlier(due, key);
    return due;
}

static void take_in_late(struct rtc_peer *p, co_usec now)
{
    struct rtc_publish *pub = p->publish;
    co_usec due = pub->intake ? rtp_intake_due(pub->intake) : CO_FOREVER;

    if (due != CO_FOREVER && due <= now)
        rtp_intake_tick(pub->intake, now);
    if (pub->intake && rtp_intake_wants_key(pub->intake))
        publish_request_key(p, now);
}

static void turn(struct rtc_peer *p, co_usec now)
{
    struct rtc_publish *pub = p->publish;
    co_usec twcc = rtp_twcc_due(&pub->twcc);

    for (unsigned i = 0; i < SDP_TRACKS; i++)
        request_again(p, &pub->tracks[i], now);
    take_in_late(p, now);
    if (twcc != CO_FOREVER && twcc <= now)
        publish_send_twcc(p, now);
    repeat_key_request(p, now);
    request_key_for_others(p, now);
    if (pub->report_at <= now)
        report(p, now);
}

static void on_due(struct co_timer *timer)
{
    struct rtc_publish *pub = container_of(timer, struct rtc_publish, timer);
    struct rtc_peer *p = container_of(pub->publisher.s, struct rtc_peer, base.session);
    co_usec now = co_now();
    struct co_cid own;

    if (pub->publisher.place.replaced)
        return; /* another publisher has the stream */
    own = co_swap_cid(p->base.cid);
    turn(p, now);
    co_set_cid(own.text);
    co_timer_set(timer, next_due(p, now), on_due);
}

void publish_due(struct rtc_peer *p, co_usec at)
{
    struct co_timer *timer = &p->publish->timer;

    if (at != CO_FOREVER && timer->prev && at < timer->due)
        co_timer_set(timer, at, on_due);
}

void publish_begin_reports(struct rtc_peer *p, co_usec now)
{
    struct rtc_publish *pub = p->publish;

    pub->waits = p->agreed.active && !pub->twcc_id;
    send_empty_reports(p, REPORTS_AHEAD);
    pub->report_at = now + REPORT_EACH;
    co_timer_set(&pub->timer, pub->report_at, on_due);
}

/* ---- reports from the publisher */

static struct publish_track *track_of(struct rtc_publish *pub, uint32_t ssrc)
{
    for (unsigned i = 0; i < SDP_TRACKS; i++) {
        if (pub->tracks[i].started && pub->tracks[i].ssrc == ssrc)
            return &pub->tracks[i];
    }
    return NULL;
}

static void on_sr(struct rtc_publish *pub, const struct rtcp_packet *packet, co_usec now)
{
    struct publish_track *t = track_of(pub, packet->ssrc);
    const struct rtcp_sr *sr = &packet->sr;

    if (!t || sr->ntp == 0)
        return;
    t->has_sr = true;
    t->sr = *sr;
    t->sr_at = now;
    rtc_wire_relay_moment(pub->wire, t->kind, rtp_unwrap32(t->time, sr->time),
                          rtcp_unix_us(sr->ntp));
    if (t->taken)
        rtp_intake_sr(pub->intake, t->number, packet->ssrc, sr, now);
}

static void on_bye(struct rtc_publish *pub, struct rtcp_packet *packet)
{
    uint32_t ssrc = packet->ssrc;

    if (packet->count == 0)
        return;
    do {
        struct publish_track *t = track_of(pub, ssrc);

        if (t && !t->over)
            log_trace("RTC: %s ends by BYE, ssrc=%u", t->kind == AV_VIDEO ? "video" : "audio",
                      ssrc);
        if (t)
            t->over = true;
    } while (rtcp_next_source(packet, &ssrc));
}

static void on_xr(struct rtc_peer *p, const struct rtcp_packet *packet)
{
    uint32_t last, delay;

    if (!rtcp_dlrr(packet, p->ssrc, &last, &delay))
        return;
    p->publish->echoes = true;
    learn_round_trip(p, rtcp_round_trip(co_wall_ms() * 1000, last, delay));
}

void rtc_publish_rtcp(struct rtc_peer *p, const uint8_t *data, size_t size, co_usec now)
{
    struct rtc_publish *pub = p->publish;
    struct rtcp_reader r;
    struct rtcp_packet packet;

    if (!pub || pub->publisher.place.replaced)
        return;
    rtcp_begin(&r, data, size);
    while (rtcp_next(&r, &packet)) {
        if (packet.type == RTCP_SR)
            on_sr(pub, &packet, now);
        else if (packet.type == RTCP_BYE)
            on_bye(pub, &packet);
        else if (packet.type == RTCP_XR)
            on_xr(p, &packet);
    }
}
