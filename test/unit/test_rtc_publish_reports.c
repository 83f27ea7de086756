/* SPDX-License-Identifier: MIT */
/* test_rtc_publish_reports.c - requests and reports to a WebRTC publisher. */
#include "rtc_publisher.h"

#include <stdlib.h>

/* ---- requests */

static void test_key_frames(void **state)
{
    (void)state;
    publisher_begin("");
    rtc_publish_request_key(publisher.p, publisher.now); /* nothing arrived yet: it starts with one */
    publisher_put_key(100, 0);
    rtc_publish_request_key(publisher.p, publisher.now);
    assert_int_equal(publisher.plis, 0);
    publisher.now += CO_MS(1000);
    for (int i = 0; i < 50; i++)
        rtc_publish_request_key(publisher.p, publisher.now);
    assert_int_equal(publisher.plis, 1);
    assert_int_equal(publisher.firs, 0);
    publisher.now += CO_MS(499);
    rtc_publish_request_key(publisher.p, publisher.now);
    assert_int_equal(publisher.plis, 1);
    publisher.now += CO_MS(1);
    rtc_publish_request_key(publisher.p, publisher.now);
    assert_int_equal(publisher.plis, 2);
    publisher_end();
}

static void only_fir(struct sdp_agreed *a)
{
    a->tracks[AV_VIDEO].feedback = SDP_FB_FIR;
}

static void nothing(struct sdp_agreed *a)
{
    a->tracks[AV_VIDEO].feedback = 0;
}

static void test_other_feedback(void **state)
{
    (void)state;
    publisher_begin_by("", only_fir);
    publisher_put_key(100, 0);
    rtc_publish_request_key(publisher.p, publisher.now + CO_SECONDS(2));
    assert_true(publisher.plis == 0 && publisher.firs == 1);
    publisher_end();
    publisher_begin_by("", nothing);
    publisher_put_key(100, 0);
    publisher_put_slice(104, 0);
    rtc_publish_request_key(publisher.p, publisher.now + CO_SECONDS(2));
    publisher_pass(20);
    assert_true(publisher.plis + publisher.firs + publisher.nacks == 0);
    publisher_end();
}

static void test_large_gap(void **state)
{
    (void)state;
    publisher_begin("");
    publisher_put_key(100, 0);
    publisher.now += CO_SECONDS(1);
    publisher_put_slice(500, 1);
    assert_int_equal(publisher.plis, 1);
    publisher_pass(20);
    assert_int_equal(publisher.nacks, 0);
    publisher_end();
}

/* A frame that is permanently broken: the next useful key frame is requested. */
static void test_broken_frame(void **state)
{
    (void)state;
    publisher_begin("rtc_to_rtmp on;");
    publisher_put_key(100, 0);
    publisher_put_slice(102, 1);
    publisher_put_slice(103, 2);
    publisher_pass(600);
    publisher_put_slice(105, 4);
    publisher_pass(100);
    assert_int_equal(publisher.plis, 0); /* it may still arrive */
    assert_true(publisher.nacks >= 2);
    publisher_pass(350);
    assert_int_equal(publisher.plis, 1);
    publisher_end();
}

static void test_period(void **state)
{
    struct live_source *src;

    (void)state;
    publisher_begin("rtc_to_rtmp on; pli_for_rtmp 0.5;");
    publisher_put_key(100, 0);
    publisher_put_slice(102, 1); /* that the previous one is complete is known by now */
    publisher_put_slice(103, 2);
    publisher_pass(1100);
    assert_int_equal(publisher.plis, 0); /* no player is there */
    src = publisher.p->base.session.src;
    live_source_players(src, 1);
    publisher_pass(1200);
    assert_in_range(publisher.plis, 1, 3);
    live_source_players(src, -1);
    publisher_end();
}

/* ---- reports */

static void put_numbered(int seq, int number)
{
    const uint8_t two[] = { (uint8_t)(number >> 8), (uint8_t)number };

    publisher_put(&(struct publisher_packet){ A_SSRC, SOUND, seq, (uint32_t)(seq * 960), true, "\xfc", 1,
                      { { TWCC, 2, two } }, 1 });
}

static void test_twcc(void **state)
{
    (void)state;
    publisher_begin("");
    for (int i = 0; i < 50; i++)
        put_numbered(i, 65500 + i);
    assert_int_equal(publisher.twccs, 1);
    put_numbered(50, 65550);
    assert_int_equal(publisher.twccs, 1);
    publisher_pass(120);
    assert_int_equal(publisher.twccs, 2);
    publisher_pass(250);
    assert_int_equal(publisher.twccs, 2);
    assert_int_equal(audience.service.stat.twcc_sent, 2);
    publisher_end();
    publisher_begin("twcc off;");
    for (int i = 0; i < 100; i++)
        put_numbered(i, i);
    publisher_pass(120);
    assert_int_equal(publisher.twccs, 0);
    publisher_end();
}

static void put_sr(uint32_t ssrc, int64_t unix_us, uint32_t time)
{
    struct wr w;

    wr_init(&w, 200);
    rtcp_put_sr(&w, ssrc, &(struct rtcp_sr){ .ntp = rtcp_ntp(unix_us), .time = time });
    rtcp_put_dlrr(&w, ssrc, 5, (uint32_t)(rtcp_ntp(co_wall_ms() * 1000 - 80000) >> 16), 0);
    rtc_publish_rtcp(publisher.p, w.buf, w.len, publisher.now);
    wr_free(&w);
}

/* In its own ticks; *unix_us: by our clock. */
static int64_t moment(int64_t *unix_us)
{
    struct rtc_wire *w = rtc_stream_wire(publisher.stream);
    int64_t number, shift, ticks;

    assert_true(rtc_wire_moment(w, AV_VIDEO, &ticks, unix_us));
    rtc_wire_relay_shift(w, AV_VIDEO, &number, &shift);
    return ticks - shift;
}

static void test_reports(void **state)
{
    struct rtc_client_stat told = { 0 };
    int64_t unix_us, before;

    (void)state;
    publisher_begin("");
    publisher_put_slice(100, 0);
    publisher_put_slice(103, 1);
    publisher_put_audio(1);
    put_sr(V_SSRC, 1700000000000000, 3000);
    put_sr(999, 1700000000000000, 5000);
    assert_true(moment(&unix_us) == 3000);
    before = unix_us;
    put_sr(V_SSRC, 1700000000500000, 48000);
    assert_true(moment(&unix_us) == 48000 && unix_us == before + 500000);
    publisher_pass(1050);
    assert_true(publisher.reports == 1 && publisher.rrtrs == 1 && publisher.rembs == 0);
    assert_true(publisher.block[0].ssrc == V_SSRC && publisher.block[1].ssrc == A_SSRC);
    assert_int_equal(publisher.block[0].highest, 103);
    assert_int_equal(publisher.block[0].lost, 2);
    assert_int_equal(publisher.block[0].fraction, 128);
    assert_int_equal(publisher.block[0].last_sr, (uint32_t)(rtcp_ntp(1700000000500000) >> 16));
    assert_in_range(publisher.block[0].delay, 60000, 80000);
    assert_int_equal(publisher.block[1].last_sr, 0);
    assert_int_equal(audience.service.stat.recv_lost, 2);
    rtc_publish_stat(publisher.p, &told);
    assert_int_equal(told.lost, 2);
    assert_in_range(told.rtt, 70000, 90000);
    assert_true(told.nacks >= 2);
    publisher_end();
}

static void only_remb(struct sdp_agreed *a)
{
    a->tracks[AV_VIDEO].feedback = SDP_FB_REMB;
    a->tracks[AV_AUDIO].feedback = 0;
}

static void test_remb(void **state)
{
    (void)state;
    publisher_begin_by("", only_remb);
    publisher_put_slice(100, 0);
    publisher_pass(1050);
    assert_int_equal(publisher.rembs, 1);
    assert_in_range(publisher.remb, 19000000, 20000000);
    publisher_end();
}

static void test_bye(void **state)
{
    struct wr w;

    (void)state;
    publisher_begin("");
    publisher_put_slice(100, 0);
    wr_init(&w, 200);
    rtcp_put_bye(&w, V_SSRC);
    rtc_publish_rtcp(publisher.p, w.buf, w.len, publisher.now);
    wr_free(&w);
    assert_true(publisher.p->publish->tracks[0].over);
    publisher.now += CO_SECONDS(2);
    rtc_publish_request_key(publisher.p, publisher.now);
    assert_int_equal(publisher.plis, 0);
    publisher_put(&(struct publisher_packet){ 7, VIDEO, 5, 5, true, "\x41\x9a", 2, { { 0 } }, 0 }); /* at once */
    assert_int_equal(publisher.wire.n, 2);
    assert_false(publisher.p->publish->tracks[0].over);
    publisher_end();
}

/* No input does harm. */
static void test_anything(void **state)
{
    uint8_t bytes[300];

    (void)state;
    publisher_begin("rtc_to_rtmp on;");
    publisher_put_key(100, 0);
    srandom(3);
    for (int i = 0; i < 20000; i++) {
        size_t n = (size_t)(random() % (int)sizeof(bytes));
        uint8_t *copy = malloc(n ? n : 1);
        static const uint8_t types[] = { VIDEO, RTX, SOUND, 200, 201, 203, 205, 206, 207 };

        for (size_t k = 0; k < sizeof(bytes); k++)
            bytes[k] = (uint8_t)random();
        bytes[0] = (uint8_t)(0x80 | (random() % 4 ? 0 : bytes[0] & 0x3f));
        bytes[1] = types[(size_t)random() % sizeof(types)];
        if (random() % 2)
            memcpy(bytes + 8, "\0\0\x03\xe8", 4);
        memcpy(copy, bytes, n);
        publisher.wire.n = 0;
        publisher.now += 1000;
        if (bytes[1] >= 200)
            rtc_publish_rtcp(publisher.p, copy, n, publisher.now);
        else
            rtc_publish_rtp(publisher.p, copy, n, publisher.now);
        free(copy);
    }
    publisher_end();
}

static int set_up(void **state)
{
    (void)state;
    assert_ok(co_init());
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    co_fini();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_key_frames),
        TEST(test_other_feedback),
        TEST(test_large_gap),
        TEST(test_broken_frame),
        TEST(test_period),
        TEST(test_twcc),
        TEST(test_reports),
        TEST(test_remb),
        TEST(test_bye),
        TEST(test_anything),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
