/* SPDX-License-Identifier: MIT */
/* test_rtc_play_again.c - requests of a stream's WebRTC players: missing packets, key frames; and
 * their reports. */
#include "rtc_audience.h"

#include <assert.h>

/* ---- missing packets */

/* The same bytes under the same number, including the initial ones; at most once in a while. */
static void what_is_missing_is_sent_again(void **state)
{
    static const enum srtp_profile profiles[] = { SRTP_NONE, SRTP_AES128_CM_SHA1_80,
                                                  SRTP_AEAD_AES_128_GCM };
    (void)state;
    for (size_t i = 0; i < COUNT(profiles); i++) {
        struct rtc_listener *g;

        audience_begin_show(AUDIENCE_CONF("", ""), 30, 25);
        g = audience_come(false, profiles[i]);
        audience_show(10, 25, 3000);
        audience_settle();
        audience_nack(g, VIDEO_SSRC, g->video.first, 20);
        assert_int_equal(g->video.doubles, 20);
        audience_nack(g, VIDEO_SSRC, g->video.first, 20);
        assert_int_equal(g->video.doubles, 20);
        audience_nack(g, AUDIO_SSRC, g->audio.first, 2);
        assert_int_equal(g->audio.doubles, 2);
        assert_ok(co_sleep(CO_MS(30)));
        audience_nack(g, VIDEO_SSRC, g->video.first, 1);
        assert_int_equal(g->video.doubles, 21);
        audience_nack(g, VIDEO_SSRC, (uint16_t)(g->video.last + 1), 3);   /* not yet */
        audience_nack(g, VIDEO_SSRC, (uint16_t)(g->video.first - 40), 3); /* never */
        audience_nack(g, 0x7777, g->video.first, 1);                      /* no such player */
        assert_int_equal(g->video.doubles, 21);
        assert_int_equal(g->peer.play->retransmitted, 23);
        audience_leave_all();
        audience_unpublish();
        audience_end();
    }
}

static void report_loss(struct rtc_listener *g, uint8_t fraction)
{
    const struct rtcp_block b = { .ssrc = VIDEO_SSRC, .fraction = fraction };
    struct wr w;

    wr_init(&w, 256);
    rtcp_put_rr(&w, 1, &b, 1);
    rtc_play_rtcp(&g->peer, w.buf, w.len, co_clock());
    wr_free(&w);
}

/* A lost retransmission would be requested again late. */
static void twice_where_much_is_lost(void **state)
{
    static const struct { uint8_t fraction; unsigned more; } rows[] = {
        { 0, 1 }, { 4, 1 }, { 5, 2 }, { 13, 2 }, { 255, 2 }, { 0, 1 },
    };
    struct rtc_listener *g;

    (void)state;
    for (size_t rtx = 0; rtx < 2; rtx++) {
        audience_begin_show(AUDIENCE_CONF("", ""), 30, 25);
        g = audience_come(rtx, SRTP_NONE);
        audience_settle();
        for (uint16_t i = 0; i < COUNT(rows); i++) {
            unsigned before = rtx ? g->rtx.packets : g->video.doubles;

            report_loss(g, rows[i].fraction);
            audience_nack(g, VIDEO_SSRC, (uint16_t)(g->video.first + i), 1);
            assert_int_equal((rtx ? g->rtx.packets : g->video.doubles) - before, rows[i].more);
        }
        audience_leave_all();
        audience_unpublish();
        audience_end();
    }
}

static void or_as_packets_of_their_own(void **state)
{
    struct rtc_listener *g;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 30, 25);
    g = audience_come(true, SRTP_NONE);
    audience_settle();
    audience_nack(g, VIDEO_SSRC, g->video.first, 3);
    assert_int_equal(g->video.doubles, 0);
    assert_int_equal(g->rtx.packets, 3);
    for (unsigned i = 0; i < 3; i++) {
        const struct heard_packet *was = &g->video.kept[(g->video.first + i) % KEPT];
        const struct heard_packet *k = &g->rtx.kept[(g->rtx.first + i) % KEPT];
        struct rtp_packet a, b;

        assert_true(rtp_parse(&a, was->bytes, was->size) && rtp_parse(&b, k->bytes, k->size));
        assert_int_equal(b.payload_size, a.payload_size + 2);
        assert_int_equal(b.payload[0] << 8 | b.payload[1], a.seq);
        assert_memory_equal(b.payload + 2, a.payload, a.payload_size);
        assert_int_equal(b.time, a.time);
        assert_int_equal(b.marker, a.marker);
    }
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

/* A player that reports everything missing, repeatedly, gets a fifth more than it is sent. */
static void repeats_are_bounded(void **state)
{
    struct rtc_listener *g;
    size_t before;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 30, 25);
    g = audience_come(false, SRTP_NONE);
    for (unsigned i = 0; i < 20; i++) {
        audience_show(5, 25, 3000);
        assert_ok(co_sleep(CO_MS(25)));
        for (uint16_t n = 0; n < 500; n += 50)
            audience_nack(g, VIDEO_SSRC, (uint16_t)(g->video.last - n), 50);
    }
    before = g->video.packets * (size_t)1000;
    assert_true(g->peer.play->retransmitted > 50);
    assert_true(g->peer.play->retransmitted * 1000 < before / 5 + 80000);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

/* ---- key frames */

/* RTMP cannot be asked: the newest key frame is sent again, as new packets after those already
 * sent; once. */
static void who_wants_a_key_frame_gets_the_newest_once(void **state)
{
    struct rtc_listener *g;
    unsigned frames, sound;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 30, 25);
    g = audience_come(false, SRTP_AEAD_AES_128_GCM);
    audience_show(22, 25, 3000); /* another key frame, and 1 after it */
    audience_settle();
    frames = g->video.frames;
    sound = g->audio.packets;
    audience_pli(g);
    audience_settle();
    assert_int_equal(g->video.frames, frames + 2);
    assert_int_equal(g->audio.packets, sound);
    assert_int_equal(g->video.back, 0);
    audience_pli(g);
    audience_settle();
    assert_int_equal(g->video.frames, frames + 2);
    audience_show(5, 25, 3000);
    audience_settle();
    assert_int_equal(g->video.frames, frames + 7);
    assert_int_equal(g->video.back + g->video.holes + g->audio.holes, 0);
    audience_nack(g, VIDEO_SSRC, g->video.first, 2); /* from before the jump */
    assert_int_equal(g->video.doubles, 2);
    audience_nack(g, VIDEO_SSRC, (uint16_t)(g->video.last - 25), 2);
    assert_int_equal(g->video.doubles, 4);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

/* Some clients lose packets right after the handshake. */
static void one_who_lost_the_begin_gets_it_again(void **state)
{
    struct rtc_listener *g;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 30, 25);
    g = audience_come(false, SRTP_AEAD_AES_128_GCM);
    g->peer.connected = co_clock();
    audience_settle();
    assert_int_equal(g->video.frames, 5);
    audience_pli(g);
    audience_settle();
    assert_int_equal(g->video.frames, 10);
    assert_int_equal(g->video.back + g->video.holes, 0);
    assert_ok(co_sleep(CO_MS(520)));
    audience_pli(g);
    audience_settle();
    assert_int_equal(g->video.frames, 10);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

static void a_publisher_of_ours_is_asked(void **state)
{
    struct rtc_listener *g;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 10, 25);
    g = audience_come(false, SRTP_NONE);
    audience_settle();
    rtc_stream_set_publisher(g->peer.base.stream, audience_publisher(false));
    audience_pli(g);
    audience_pli(g); /* at once: it was requested already */
    assert_int_equal(audience.wanted_keys, 1);
    assert_int_equal(g->peer.play->plis, 2);
    rtc_stream_set_publisher(g->peer.base.stream, NULL);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

/* ---- with the publisher's packets */

/* Frames of 3 packets, the first of 10 is a key frame, the last is a disposable frame. */
static void relay(struct rtc_wire *w, unsigned from, unsigned n, uint16_t seq, uint32_t time)
{
    uint8_t data[100];

    for (unsigned i = from; i < from + n; i++) {
        for (unsigned k = 0; k < 3; k++) {
            struct rtp_log_entry e = {
                .data = data, .size = sizeof(data), .marker = k == 2, .at = co_clock(),
                .number = seq + (int64_t)(i * 3 + k), .ticks = time + (int64_t)i * 3600,
            };

            memset(data, (int)(i * 3 + k), sizeof(data));
            data[0] = i % 10 == 9 ? 0x01 : i % 10 ? 0x41 : 0x65;
            rtc_wire_relay_put(w, &e);
        }
    }
}

static void numbers_are_kept_as_they_came(void **state)
{
    static const enum av_codec codecs[] = { AV_H264, AV_OPUS };
    const uint32_t time = UINT32_MAX - 20 * 3600;
    struct datagram_stream *st;
    struct rtc_listener *g;

    (void)state;
    audience_begin(AUDIENCE_CONF("keep_original_ssrc on;", ""));
    audience_publish();
    st = rtc_stream_get(&audience.service, audience.src);
    rtc_stream_set_publisher(st, audience_publisher(false));
    rtc_wire_relay_begin(rtc_stream_wire(st), codecs);
    relay(rtc_stream_wire(st), 0, 15, 65500, time);
    g = audience_come(false, SRTP_AEAD_AES_128_GCM);
    audience_settle();
    assert_int_equal(g->video.first, (uint16_t)(65500 + 30)); /* the newest key frame */
    assert_int_equal(g->video.first_time, time + 10 * 3600);
    assert_int_equal(g->video.frames, 5);
    assert_int_equal(g->video.time, time + 14 * 3600);
    g->peer.connected = co_clock();
    audience_pli(g); /* once more, under the same numbers */
    audience_settle();
    assert_int_equal(g->video.doubles, 15);
    relay(rtc_stream_wire(st), 15, 20, 65500, time);
    rtc_stream_wake(st);
    audience_settle();
    assert_int_equal(g->video.last, (uint16_t)(65500 + 34 * 3 + 2));
    assert_int_equal(g->video.time, time + 34 * 3600);
    assert_int_equal(g->video.holes + g->video.back, 0);
    audience_leave_all();
    rtc_stream_set_publisher(st, NULL);
    rtc_wire_relay_end(rtc_stream_wire(st));
    datagram_stream_put(st);
    audience_unpublish();
    audience_end();
}

static void put_late(struct rtc_wire *w, unsigned picture, unsigned k)
{
    uint8_t data[100];
    struct rtp_log_entry e = { .data = data, .size = sizeof(data), .at = co_clock(),
                               .number = picture * 3 + k, .ticks = (int64_t)picture * 3600 };

    memset(data, (int)k, sizeof(data));
    data[0] = 0x41;
    rtc_wire_relay_put(w, &e);
}

/* Frames that exceed a slow link are left out, and numbers have no gaps. */
static void what_a_line_does_not_take_is_left_out(void **state)
{
    static const enum av_codec codecs[] = { AV_H264, AV_OPUS };
    struct datagram_stream *st;
    struct rtc_wire *w;
    struct rtc_listener *g;
    uint16_t before;

    (void)state;
    audience_begin(AUDIENCE_CONF("", ""));
    audience_publish();
    st = rtc_stream_get(&audience.service, audience.src);
    w = rtc_stream_wire(st);
    rtc_stream_set_publisher(st, audience_publisher(false));
    rtc_wire_relay_begin(w, codecs);
    relay(w, 0, 15, 0, 0);
    g = audience_come(false, SRTP_AEAD_AES_128_GCM);
    audience_settle();
    assert_int_equal(g->video.frames, 5);
    g->peer.play->quality.takes = RTC_QUALITY_NEEDED;
    relay(w, 15, 30, 0, 0); /* with 19, 29 and 39 */
    rtc_stream_wake(st);
    audience_settle();
    assert_int_equal(g->video.frames, 5 + 27);
    assert_int_equal(g->peer.play->left_out, 9);
    g->peer.play->quality.takes = RTC_QUALITY_KEYS;
    relay(w, 45, 30, 0, 0); /* 50, 60, 70 */
    rtc_stream_wake(st);
    audience_settle();
    assert_int_equal(g->video.frames, 32 + 3);
    g->peer.play->quality.takes = RTC_QUALITY_ALL; /* from the next key frame on: 80 */
    relay(w, 75, 15, 0, 0);
    rtc_stream_wake(st);
    audience_settle();
    assert_int_equal(g->video.frames, 35 + 10);
    assert_int_equal(g->video.holes + g->video.back, 0);
    for (unsigned i = 0; i < 45 * 3; i += 15) { /* all of it can be requested again */
        before = (uint16_t)g->video.doubles;
        audience_nack(g, VIDEO_SSRC, (uint16_t)(g->video.first + i), 15);
        assert_int_equal(g->video.doubles, before + 15);
    }
    audience_leave_all();
    rtc_stream_set_publisher(st, NULL);
    rtc_wire_relay_end(w);
    datagram_stream_put(st);
    audience_unpublish();
    audience_end();
}

/* Late packets have their place after a gap as well. */
static void late_packets_have_their_place_behind_gaps(void **state)
{
    static const enum av_codec codecs[] = { AV_H264, AV_OPUS };
    struct datagram_stream *st;
    struct rtc_wire *w;
    struct rtc_listener *g;

    (void)state;
    audience_begin(AUDIENCE_CONF("", ""));
    audience_publish();
    st = rtc_stream_get(&audience.service, audience.src);
    w = rtc_stream_wire(st);
    rtc_wire_relay_begin(w, codecs);
    relay(w, 0, 5, 0, 0);
    g = audience_come(false, SRTP_NONE);
    g->peer.play->quality.takes = RTC_QUALITY_NEEDED;
    put_late(w, 5, 0);
    put_late(w, 5, 2);
    relay(w, 9, 1, 0, 0);  /* is left out */
    relay(w, 10, 2, 0, 0);
    put_late(w, 5, 1);
    put_late(w, 6, 0);     /* unknown when numbers continued */
    rtc_stream_wake(st);
    audience_settle();
    assert_int_equal(g->video.holes, 1); /* until it arrived */
    audience_nack(g, VIDEO_SSRC, (uint16_t)(g->video.first + 16), 1);
    assert_int_equal(g->video.doubles, 1);
    audience_leave_all();
    rtc_wire_relay_end(w);
    datagram_stream_put(st);
    audience_unpublish();
    audience_end();
}

/* A packet whose source has been replaced gets other numbers. */
static void numbers_of_another_source_are_not_kept(void **state)
{
    static const enum av_codec codecs[] = { AV_H264, AV_OPUS };
    struct datagram_stream *st;
    struct rtc_listener *g;

    (void)state;
    audience_begin(AUDIENCE_CONF("keep_original_ssrc on;", ""));
    audience_publish();
    st = rtc_stream_get(&audience.service, audience.src);
    rtc_stream_set_publisher(st, audience_publisher(false));
    rtc_wire_relay_begin(rtc_stream_wire(st), codecs);
    relay(rtc_stream_wire(st), 0, 15, 40000, 7000000);
    (void)audience_publisher(true);
    g = audience_come(false, SRTP_NONE);
    audience_settle();
    assert_int_equal(g->video.frames, 5);
    assert_true(g->video.first < 40000);
    assert_false(g->peer.play->tracks[0].keeps);
    audience_leave_all();
    rtc_stream_set_publisher(st, NULL);
    rtc_wire_relay_end(rtc_stream_wire(st));
    datagram_stream_put(st);
    audience_unpublish();
    audience_end();
}

/* ---- reports */

static void reports_say_how_the_way_is(void **state)
{
    struct rtc_client_stat tell = { 0 };
    struct rtcp_block b = { .ssrc = VIDEO_SSRC, .lost = 7, .jitter = 900 };
    struct rtc_listener *g;
    struct wr w;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 10, 25);
    g = audience_come(false, SRTP_NONE);
    audience_settle();
    b.last_sr = (uint32_t)(rtcp_ntp(co_wall_ms() * 1000 - 50000) >> 16);
    wr_init(&w, 64);
    rtcp_put_rr(&w, 1, &b, 1);
    rtc_play_rtcp(&g->peer, w.buf, w.len, co_clock());
    for (size_t n = 0; n < w.len; n++) /* cut anywhere */
        rtc_play_rtcp(&g->peer, w.buf, n, co_clock());
    wr_free(&w);
    rtc_play_stat(&g->peer, &tell);
    assert_int_equal(tell.lost, 7);
    assert_int_equal(tell.jitter, 10000);
    assert_in_range(tell.rtt, 45000, 80000);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

/* It reports its clock, and gets it back: not more often than needed. */
static void a_player_learns_the_round_trip(void **state)
{
    struct rtc_listener *g;
    struct wr w;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 10, 25);
    g = audience_come(false, SRTP_NONE);
    audience_settle();
    wr_init(&w, 64);
    rtcp_put_rrtr(&w, 0x1234, 0x1122334455667788u);
    for (size_t n = 0; n <= w.len; n++) /* cut anywhere */
        rtc_play_rtcp(&g->peer, w.buf, n, co_clock());
    rtc_play_rtcp(&g->peer, w.buf, w.len, co_clock());
    assert_int_equal(g->clocks, 1);
    assert_int_equal(g->clock, 0x33445566);
    rtc_play_rtcp(&g->peer, w.buf, w.len, co_clock() + CO_MS(150));
    assert_int_equal(g->clocks, 2);
    wr_free(&w);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_missing_is_sent_again),
        TEST(or_as_packets_of_their_own),
        TEST(repeats_are_bounded),
        TEST(twice_where_much_is_lost),
        TEST(who_wants_a_key_frame_gets_the_newest_once),
        TEST(one_who_lost_the_begin_gets_it_again),
        TEST(a_publisher_of_ours_is_asked),
        TEST(numbers_are_kept_as_they_came),
        TEST(what_a_line_does_not_take_is_left_out),
        TEST(late_packets_have_their_place_behind_gaps),
        TEST(numbers_of_another_source_are_not_kept),
        TEST(reports_say_how_the_way_is),
        TEST(a_player_learns_the_round_trip),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
