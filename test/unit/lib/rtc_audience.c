/* SPDX-License-Identifier: MIT */
/* rtc_audience.c - a worker with a stream and its WebRTC players, whose packets are checked at once. */
#include "rtc_audience.h"

#include "datagram_player.h"
#include "publisher.h"
#include "rtcp_reader.h"
#include "serve/rtc/publish_impl.h"

#define VHOST "__defaultVhost__"

struct audience audience;

static struct rtc_listener *guest_of(struct rtc_peer *p)
{
    return (struct rtc_listener *)(void *)p;
}

static struct rtc_ear *ear_of(struct rtc_listener *g, uint32_t ssrc)
{
    return ssrc == VIDEO_SSRC ? &g->video : ssrc == AUDIO_SSRC ? &g->audio : &g->rtx;
}

static void keep(struct rtc_ear *e, uint16_t seq, const uint8_t *data, size_t size)
{
    struct heard_packet *k;

    if (!e->kept)
        e->kept = calloc(KEPT, sizeof(*e->kept));
    assert_non_null(e->kept);
    k = &e->kept[seq % KEPT];
    if (k->bytes) {
        e->doubles++;
        assert_int_equal(k->size, size);
        assert_memory_equal(k->bytes, data, size);
        return;
    }
    *k = (struct heard_packet){ size, malloc(size) };
    assert_non_null(k->bytes);
    memcpy(k->bytes, data, size);
}

static void hear(struct rtc_listener *g, uint8_t *data, size_t size)
{
    struct rtp_packet p;
    struct rtc_ear *e;
    uint8_t cipher[2048];
    size_t n = size;

    memcpy(cipher, data, size);
    assert_true(!g->in || srtp_unprotect(g->in, data, &n) || n == size);
    assert_true(rtp_parse(&p, data, n));
    e = ear_of(g, p.ssrc);
    assert_int_equal(p.type, e == &g->video ? VIDEO : e == &g->audio ? AUDIO : RTX);
    keep(e, p.seq, cipher, size);
    if (!e->any) {
        e->first = p.seq;
        e->first_time = p.time;
        memcpy(g->begin, p.payload, e == &g->video ? sizeof(g->begin) : 0);
        g->has_extension |= p.extension != NULL;
    } else if ((int16_t)(p.seq - e->last) > 1) {
        e->holes++;
    }
    if (e->any && (int16_t)(p.seq - e->last) <= 0)
        return;
    e->back += e->any && (int32_t)(p.time - e->time) < 0;
    e->any = true;
    e->last = p.seq;
    e->time = p.time;
    e->packets++;
    e->frames += p.marker;
}

static void hear_rtp(struct rtc_peer *p, const uint8_t *data, size_t size, size_t segment)
{
    struct rtc_listener *g = guest_of(p);
    uint8_t one[2048];

    assert_true(segment > 0 && size <= UDP_MOST);
    g->bursts++;
    for (size_t at = 0, n; at < size; at += n) {
        n = size - at < segment ? size - at : segment;
        memcpy(one, data + at, n);
        hear(g, one, n);
    }
}

static void hear_rtcp(struct rtc_peer *p, const uint8_t *data, size_t size)
{
    struct rtc_listener *g = guest_of(p);
    struct rtcp_reader r;
    struct rtcp_packet packet;
    uint8_t rtcp[2048];
    const char *name;

    memcpy(rtcp, data, size);
    assert_true(!g->in || srtcp_unprotect(g->in, rtcp, &size));
    rtcp_begin(&r, rtcp, size);
    while (rtcp_next(&r, &packet)) {
        if (packet.type == RTCP_SR) {
            g->reports++;
            g->report_time[packet.ssrc == AUDIO_SSRC] = packet.sr.time;
        } else if (packet.type == RTCP_XR) {
            uint32_t delay;

            assert_true(rtcp_dlrr(&packet, 0x1234, &g->clock, &delay));
            assert_int_equal(delay, 0);
            g->clocks++;
        } else {
            assert_int_equal(packet.type, RTCP_SDES);
            name = rtcp_cname(&packet, &size);
            assert_true(name && size == strlen(p->base.cid) && memcmp(name, p->base.cid, size) == 0);
        }
    }
    assert_false(r.r.bad);
}

static void on_close(struct datagram_client *c, err_t why)
{
    ((struct rtc_listener *)(void *)c)->left = err_code(why);
    err_free(&why);
}

static const struct rtc_line_ops line = { hear_rtp, hear_rtcp };

static const struct datagram_client_ops ops = {
    on_close, NULL, SAMPLED_RTC_PLAY, rtc_play_changed, rtc_play_check, rtc_play_log_sample };

/* ---- a WebRTC publisher */

static void hear_no_rtp(struct rtc_peer *p, const uint8_t *data, size_t size, size_t segment)
{
    (void)p, (void)data, (void)size, (void)segment;
    fail_msg("a publisher is sent no media");
}

static void hear_wish(struct rtc_peer *p, const uint8_t *data, size_t size)
{
    struct rtcp_reader r;
    struct rtcp_packet packet;
    struct rtcp_feedback f;

    (void)p;
    rtcp_begin(&r, data, size);
    while (rtcp_next(&r, &packet))
        audience.wanted_keys += rtcp_feedback(&packet, &f) && f.kind == RTCP_PLI;
}

struct rtc_peer *audience_publisher(bool anew)
{
    static const struct rtc_line_ops ops_of_publisher = { hear_no_rtp, hear_wish };
    static const struct sdp_track sdp = { .feedback = SDP_FB_PLI };
    static struct rtc_publish publish;
    static struct rtc_line line_of_it;
    static struct rtc_peer p;

    p = (struct rtc_peer){ .base = { .publishes = true, .state = DATAGRAM_ACTIVE },
                           .service = &audience.service, .publish = &publish, .clear = true };
    publish = (struct rtc_publish){ .tracks = {
        [AV_VIDEO] = { .sdp = &sdp, .started = true, .ssrc = VIDEO_SSRC + anew, .shift = anew ? 1000 : 0 },
        [AV_AUDIO] = { .sdp = &sdp, .started = true, .ssrc = AUDIO_SSRC } } };
    rtc_line_connect(&line_of_it, &p, &ops_of_publisher);
    return &p;
}

/* ---- a worker */

void audience_begin(const char *text)
{
    memset(&audience, 0, sizeof(audience));
    audience.env = env_new(text);
    audience.service.base.env = audience.env;
    datagram_player_service(&audience.service.base);
}

void audience_end(void)
{
    assert_ok(co_group_stop(&audience.service.base.group));
    assert_int_equal(audience.service.streams.all.n, 0);
    assert_null(audience.service.streams.burst);
    assert_int_equal(live_registry_count(audience.env->streams), 0);
    env_free(&audience.env);
}

void audience_publish(void)
{
    audience.src = env_publish(audience.env);
    push_config(audience.src, AV_H264);
    push_config(audience.src, AV_OPUS);
}

void audience_unpublish(void)
{
    live_source_end(audience.src, &me);
    audience.src = live_source_unref(audience.src);
}

static uint8_t frame_buf[MEDIA_FRAME_MAX];

void audience_show(unsigned frames, unsigned each, size_t size)
{
    for (unsigned i = 0; i < frames; i++, audience.shown += 40) {
        struct frame f = media_make(AV_H264, audience.shown / 40 % each ? 1 : 0, size, frame_buf);

        f.dts = f.pts = AV_MS(audience.shown);
        push(audience.src, &f);
        for (int k = 0; k < 2; k++) {
            f = media_make(AV_OPUS, 1, 100, frame_buf);
            f.dts = f.pts = AV_MS(audience.shown + 20 * k);
            push(audience.src, &f);
        }
        co_yield();
        co_yield();
    }
}

void audience_begin_show(const char *text, unsigned frames, unsigned each)
{
    audience_begin(text);
    audience_publish();
    audience.shown = 0;
    audience_show(frames, each, 3000);
}

/* ---- players that come and go */

static void agree(struct rtc_peer *p, bool rtx)
{
    struct sdp_track *v = &p->agreed.tracks[AV_VIDEO], *a = &p->agreed.tracks[AV_AUDIO];

    *v = (struct sdp_track){ .on = true, .codec = AV_H264, .type = VIDEO, .clock = 90000,
                             .ssrc = VIDEO_SSRC, .rtx_type = rtx ? RTX : 0,
                             .rtx_ssrc = rtx ? RTX_SSRC : 0 };
    *a = (struct sdp_track){ .on = true, .codec = AV_OPUS, .type = AUDIO, .clock = 48000,
                             .ssrc = AUDIO_SSRC };
    v->ext[SDP_EXT_PLAYOUT_DELAY] = 5;
}

static void give_keys(struct rtc_listener *g, enum srtp_profile profile)
{
    const struct srtp_keys keys = { profile, { 1, 2, 3 }, { 4, 5, 6 } };

    g->peer.clear = profile == SRTP_NONE;
    if (g->peer.clear)
        return;
    assert_ok(srtp_out_new(&g->peer.srtp_out, &keys));
    assert_ok(srtp_in_new(&g->in, &keys));
}

struct rtc_listener *audience_come(bool rtx, enum srtp_profile profile)
{
    struct rtc_listener *g = calloc(1, sizeof(*g));
    char cid[DATAGRAM_CID];
    struct rtc_peer *p;

    assert_non_null(g);
    p = &g->peer;
    (void)snprintf(cid, sizeof(cid), "guest%03u", audience.n_guests);
    datagram_player_begin(&p->base, &audience.service.base, &ops, cid);
    p->service = &audience.service;
    rtc_line_connect(&g->line, p, &line);
    assert_ok(session_find_stream(&p->base.session, VHOST, "live", "s"));
    assert_ok(rtc_play_admit(p));
    agree(p, rtx);
    give_keys(g, profile);
    p->base.session.co = NULL;
    datagram_client_state(&p->base, DATAGRAM_ACTIVE);
    rtc_play_connected(p, co_clock());
    audience.guests[audience.n_guests++] = g;
    return g;
}

static void forget(struct rtc_ear *e)
{
    for (unsigned i = 0; e->kept && i < KEPT; i++)
        free(e->kept[i].bytes);
    free(e->kept);
}

void audience_leave(struct rtc_listener *g)
{
    rtc_play_end(&g->peer, NULL);
    srtp_out_free(g->peer.srtp_out);
    srtp_in_free(g->in);
    datagram_player_end(&g->peer.base);
    forget(&g->video);
    forget(&g->audio);
    forget(&g->rtx);
    free(g);
}

void audience_leave_all(void)
{
    for (unsigned i = 0; i < audience.n_guests; i++) {
        if (audience.guests[i])
            audience_leave(audience.guests[i]);
    }
    audience.n_guests = 0;
}

void audience_settle(void)
{
    for (int i = 0; i < 4; i++)
        assert_ok(co_sleep(CO_MS(6)));
}

void audience_nack(struct rtc_listener *g, uint32_t ssrc, uint16_t first, unsigned n)
{
    uint16_t seqs[64];
    struct wr w;

    for (unsigned i = 0; i < n; i++)
        seqs[i] = (uint16_t)(first + i);
    wr_init(&w, 1024);
    rtcp_put_nack(&w, 1, ssrc, seqs, n);
    assert_false(w.bad);
    rtc_play_rtcp(&g->peer, w.buf, w.len, co_clock());
    wr_free(&w);
}

void audience_pli(struct rtc_listener *g)
{
    struct wr w;

    wr_init(&w, 64);
    rtcp_put_pli(&w, 1, VIDEO_SSRC);
    rtc_play_rtcp(&g->peer, w.buf, w.len, co_clock());
    wr_free(&w);
}
