/* SPDX-License-Identifier: MIT */
/* test_rtc_publish.c - packets of a WebRTC publisher: their tracks, what WebRTC players get, and what
 * all others get. */
#include "rtc_publisher.h"

/* ---- destinations of packets */

static void test_relayed_and_taken_in(void **state)
{
    const struct rtp_log_entry *e = publisher.wire.v;
    struct rtc_listener *g;

    (void)state;
    publisher_begin("rtc_to_rtmp on;");
    g = audience_come(false, SRTP_NONE);
    assert_ptr_equal(rtc_stream_publisher(publisher.stream), publisher.p);
    publisher_put_key(100, 0);
    publisher_put_audio(7);
    publisher_put_slice(102, 1);
    publisher_put_slice(103, 2);
    publisher_put_audio(8);
    assert_int_equal(publisher.wire.n, 6);
    audience_settle(); /* players were woken */
    assert_int_equal(g->video.packets, 4);
    assert_int_equal(g->audio.packets, 2);
    assert_true(e[0].track == 0 && e[0].number == 100 && e[0].ticks == 0 && !e[0].marker);
    assert_true(e[0].size == sizeof(SETS) - 1 && e[1].marker && e[1].number == 101);
    assert_true(e[2].track == 1 && e[2].number == 7 && e[2].ticks == 7 * 960);
    assert_true(e[5].ext_size == 3);
    assert_memory_equal(publisher.wire.last_ext, "\x06\x01\x55", 3);
    assert_int_equal(SDP_EXT_AUDIO_LEVEL, 6);
    assert_true(publisher_frames() >= 4); /* two complete video frames; two audio frames; and configurations */
    assert_int_equal(audience.service.stat.received, 6);
    audience_leave_all();
    publisher_end();
}

static void test_not_taken_in(void **state)
{
    (void)state;
    publisher_begin("");
    publisher_put_key(100, 0);
    publisher_put_slice(102, 1);
    publisher_put_slice(103, 2);
    assert_int_equal(publisher.wire.n, 4);
    assert_int_equal(publisher_frames(), 0);
    publisher_end();
}

static void test_late_and_doubled(void **state)
{
    const struct rtp_log_entry *e = publisher.wire.v;

    (void)state;
    publisher_begin("");
    publisher_put_key(65534, 0);
    publisher_put_slice(1, 2);
    publisher_put_slice(0, 1);
    publisher_put_slice(0, 1);
    publisher_put_slice(1, 2);
    assert_int_equal(publisher.wire.n, 4);
    assert_true(e[2].number == 65537 && !e[2].late);
    assert_true(e[3].number == 65536 && e[3].late && e[3].ticks == 3000);
    assert_int_equal(publisher.p->publish->doubled, 2);
    publisher_end();
}

static void test_repeats(void **state)
{
    (void)state;
    publisher_begin("rtc_to_rtmp on;");
    publisher_put_repeat(99, 0); /* nothing to retransmit yet */
    assert_int_equal(publisher.wire.n, 0);
    publisher_put_key(100, 0);
    publisher_put_slice(102, 1);
    publisher_put_slice(104, 3);
    publisher_pass(16);
    assert_int_equal(publisher.nacks, 1);
    assert_int_equal(publisher.asked, 103);
    publisher_put_repeat(103, 2);
    assert_int_equal(publisher.wire.n, 5);
    assert_true(publisher.wire.v[4].number == 103 && publisher.wire.v[4].ticks == 6000 && publisher.wire.v[4].late);
    assert_int_equal(publisher.wire.v[4].size, 4);
    publisher_put_repeat(103, 2);
    publisher_put_repeat(102, 1);
    assert_int_equal(publisher.wire.n, 5);
    publisher_pass(60);
    assert_int_equal(publisher.nacks, 1);
    publisher_put_slice(105, 4);
    assert_int_equal(publisher.p->publish->tracks[0].nack.recovered, 1);
    publisher_end();
}

/* ---- track of a packet */

static const struct {
    const char *name, *mid;
    uint32_t ssrc;
    uint8_t type;
    int track; /* -1: none */
} whose[] = {
    { "by type", NULL, 1, VIDEO, 0 },
    { "by type, audio", NULL, 1, SOUND, 1 },
    { "of no type", NULL, 1, 50, -1 },
    { "by mid", "v", 1, VIDEO, 0 },
    { "by mid, of another's type", "a", 1, VIDEO, -1 },
    { "of an unknown mid", "x", 1, VIDEO, 0 },
    { "by ssrc as offered", NULL, V_SSRC, VIDEO, 0 },
    { "by ssrc, of another's type", NULL, V_SSRC, SOUND, -1 },
};

static void offer_ssrc(struct sdp_agreed *a)
{
    a->tracks[AV_VIDEO].ssrc = V_SSRC;
}

static void test_whose(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(whose); i++) {
        struct publisher_packet in = { whose[i].ssrc, whose[i].type, 1, 0, true, "\x41\x9a", 2, { { 0 } }, 0 };

        print_message("  %s\n", whose[i].name);
        publisher_begin_by("", offer_ssrc);
        if (whose[i].mid) {
            in.ext[0] = (struct rtp_ext){ MID, 1, (const uint8_t *)whose[i].mid };
            in.n_ext = 1;
        }
        publisher_put(&in);
        assert_int_equal(publisher.wire.n, whose[i].track >= 0);
        if (publisher.wire.n)
            assert_int_equal(publisher.wire.v[0].track, whose[i].track);
        publisher_end();
    }
}

static void choose_high(struct sdp_agreed *a)
{
    struct sdp_track *t = &a->tracks[AV_VIDEO];

    t->n_rids = 2;
    (void)strcpy(t->rids[0], "h");
    (void)strcpy(t->rids[1], "l");
}

/* With simulcast, the negotiated layer; unknown sources are checked again. */
static void test_simulcast(void **state)
{
    struct publisher_packet in = { 1, VIDEO, 1, 0, true, "\x41\x9a", 2, { { 0 } }, 0 };

    (void)state;
    publisher_begin_by("", choose_high);
    publisher_put(&in);
    assert_int_equal(publisher.wire.n, 0);
    in.ext[0] = (struct rtp_ext){ RID, 1, (const uint8_t *)"h" };
    in.n_ext = 1;
    publisher_put(&in);
    assert_int_equal(publisher.wire.n, 1);
    in.n_ext = 0; /* it is known by now */
    in.seq = 2;
    publisher_put(&in);
    assert_int_equal(publisher.wire.n, 2);
    in.ssrc = 2;
    in.n_ext = 1;
    in.ext[0] = (struct rtp_ext){ RID, 1, (const uint8_t *)"l" };
    publisher_put(&in);
    assert_int_equal(publisher.wire.n, 2);
    publisher_end();
}

/* A second of a layer: `n` packets, the first is of a key frame. */
static void put_layer(uint32_t ssrc, const char *rid, uint16_t seq, unsigned n, bool key)
{
    static const char set[] = SETS;

    for (unsigned i = 0; i < n; i++) {
        struct publisher_packet in = { ssrc, VIDEO, (uint16_t)(seq + i), seq * 90u + i * 1000, true, "\x41\x9a",
                         2, { { RID, 1, (const uint8_t *)rid } }, 1 };

        if (key && i == 0) {
            in.payload = set;
            in.size = sizeof(set) - 1;
        }
        publisher_put(&in);
        publisher.now += CO_SECONDS(1) / n;
    }
}

/* The layer with the highest bit rate, from a requested key frame on; another one if that has
 * stopped. */
static void test_the_largest_layer_is_the_stream(void **state)
{
    unsigned n;

    (void)state;
    publisher_begin_by("rtc_to_rtmp on;", choose_high);
    put_layer(1, "l", 100, 10, true);
    assert_int_equal(publisher.wire.n, 10);
    for (unsigned i = 0; i < 3; i++) { /* both, and the other has ten times as much */
        n = publisher.wire.n;
        put_layer(2, "h", (uint16_t)(500 + i * 100), 100, false);
        put_layer(1, "l", (uint16_t)(110 + i * 10), 10, false);
        assert_int_equal(publisher.wire.n, n + 10);
    }
    assert_true(publisher.plis > 0);
    n = publisher.wire.n;
    put_layer(2, "h", 900, 10, true);
    assert_int_equal(publisher.wire.n, n + 10);
    assert_int_equal(publisher.p->publish->tracks[AV_VIDEO].ssrc, 2);
    put_layer(1, "l", 200, 5, true); /* it is heard no more */
    assert_int_equal(publisher.wire.n, n + 10);
    publisher.now += CO_SECONDS(2);
    put_layer(1, "l", 210, 5, false);
    assert_int_equal(publisher.wire.n, n + 10);
    put_layer(1, "l", 215, 5, true); /* in place of one that has stopped */
    assert_int_equal(publisher.wire.n, n + 15);
    publisher_end();
}

static void test_many_sources(void **state)
{
    (void)state;
    publisher_begin("");
    for (uint32_t ssrc = 1; ssrc < 1000; ssrc++)
        publisher_put(&(struct publisher_packet){ ssrc, SOUND, 1, 0, true, "\xfc", 1, { { 0 } }, 0 });
    assert_int_equal(publisher.p->publish->n_sources, PUBLISH_SOURCES);
    assert_int_equal(publisher.wire.n, 1); /* another may not send while one does */
    publisher_end();
}

/* It stops, and returns as another source: numbers continue without doubt for players. */
static void test_another_source(void **state)
{
    (void)state;
    publisher_begin("rtc_to_rtmp on;");
    publisher_put_key(100, 0);
    publisher_put_slice(102, 1);
    publisher_put(&(struct publisher_packet){ 7, VIDEO, 30000, 5, true, "\x41\x9a", 2, { { 0 } }, 0 });
    assert_int_equal(publisher.wire.n, 3);
    publisher.now += CO_SECONDS(2);
    publisher_put(&(struct publisher_packet){ 7, VIDEO, 101, 5, true, "\x41\x9a", 2, { { 0 } }, 0 });
    publisher_put(&(struct publisher_packet){ 7, VIDEO, 102, 3005, true, "\x41\x9a", 2, { { 0 } }, 0 });
    assert_int_equal(publisher.wire.n, 5);
    assert_true(publisher.wire.v[3].number > 102 + 3000);
    assert_true(publisher.wire.v[4].number == publisher.wire.v[3].number + 1);
    assert_false(publisher.wire.v[3].late);
    publisher_end();
}

static void test_numbers_restart(void **state)
{
    (void)state;
    publisher_begin("");
    publisher_put_slice(100, 0);
    publisher_put_slice(20000, 1); /* no publisher's, as far as known */
    assert_int_equal(publisher.wire.n, 1);
    publisher_put_slice(101, 2);
    publisher_put_slice(20001, 3);
    assert_int_equal(publisher.wire.n, 2);
    publisher_put_slice(20002, 4);
    publisher_put_slice(20003, 5);
    assert_int_equal(publisher.wire.n, 4);
    assert_int_equal(publisher.wire.v[3].number, publisher.wire.v[2].number + 1);
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
        TEST(test_relayed_and_taken_in),
        TEST(test_not_taken_in),
        TEST(test_late_and_doubled),
        TEST(test_repeats),
        TEST(test_whose),
        TEST(test_simulcast),
        TEST(test_the_largest_layer_is_the_stream),
        TEST(test_many_sources),
        TEST(test_another_source),
        TEST(test_numbers_restart),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
