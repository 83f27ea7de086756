/* SPDX-License-Identifier: MIT */
/* test_wire_rtp_start.c - where RTP players begin, publishers that come and go, and the wall clock. */
#include "rtp_player.h"

/* ---- publishers come and go */

static void test_publisher_comes_back(void **state)
{
    static struct live_publisher other = { .ip = "127.0.0.2" };
    struct live_source *src = source_new();
    struct ear e;
    unsigned before;
    uint32_t last;

    (void)state;
    push_configs(src);
    ear_open(&e, src, BOTH, 1400);
    push_av(src, AV_MS(700000), 30, 25, 160);
    ear_take(&e);
    before = packets_of(&e, 0);
    last = nth_packet(&e, 0, before - 1)->rtp.time;
    live_source_end(src, &me);
    assert_ok(live_source_begin(src, &other, &rule));
    push_configs(src);
    push_av(src, 0, 30, 25, 160);
    ear_take(&e);
    ear_check(&e);
    assert_int_equal(byes_of(&e), 0);
    assert_in_range(nth_packet(&e, 0, before)->rtp.time - last, 1, AV_MS(1000));
    live_source_end(src, &other);
    ear_close(&e);
    live_end(src);
}

/* A continuing player must not take frames of another codec for its own, and is notified that all tracks
 * end. */
static void test_another_codec(void **state)
{
    struct live_source *src = source_new();
    unsigned before, after;
    struct ear e, late;

    (void)state;
    push_configs(src);
    ear_open(&e, src, BOTH, 1400);
    push_av(src, 0, 5, 25, 160);
    ear_take(&e);
    before = packets_of(&e, 0);
    live_source_end(src, &me);
    assert_ok(live_source_begin(src, &me, &rule));
    push_config(src, AV_H265);
    push_config(src, AV_AAC);
    push_at(src, AV_H265, true, 40, 160);
    ear_open(&late, src, BOTH, 1400);
    ear_take(&e);
    ear_take(&late);
    ear_check(&e);
    assert_int_equal(byes_of(&e), 2);
    assert_int_equal(byes_of(&late), 0);
    after = packets_of(&e, 0);
    assert_true(after > before);
    for (unsigned i = 0; i < after; i++)
        assert_int_equal(nth_packet(&e, 0, i)->rtp.type, i < before ? 96 : 98);
    ear_close(&late);
    ear_close(&e);
    live_end(src);
}

/* Parameter sets of a new configuration come before the next key frame. */
static void test_another_configuration(void **state)
{
    static const char config[] = "\x01\x42\xc0\x1e\xff\xe1\x00\x04\x67\x42\xc0\x1e\x01\x00\x02\x68\x77";
    struct frame f = media_config(AV_H264, MEDIA_BYTES(config));
    struct live_source *src = source_new();
    const struct item *sets;
    unsigned before;
    struct ear e;

    (void)state;
    push_config(src, AV_H264);
    ear_open(&e, src, BOTH, 1400);
    push_at(src, AV_H264, true, 0, 160);
    ear_take(&e);
    before = packets_of(&e, 0);
    push(src, &f);
    push_at(src, AV_H264, true, 40, 160);
    ear_take(&e);
    sets = nth_packet(&e, 0, before);
    assert_true(sets->rtp.payload_size > 5);
    assert_memory_equal(sets->rtp.payload + 1, "\x00\x04\x67\x42\xc0\x1e", 6);
    ear_close(&e);
    live_end(src);
}

/* ---- the response to PLAY */

static void test_start(void **state)
{
    struct live_source *src = source_new();
    struct rtp_wire_start start[RTP_WIRE_N];
    struct ear e;

    (void)state;
    push_configs(src);
    ear_open(&e, src, BOTH, 1400);
    rtp_wire_start(&e.c, 3, start);
    assert_false(start[0].has_time || start[0].has_seq || start[1].has_time || start[1].has_seq);
    push_at(src, AV_H264, true, 400, 160); /* the audio of the same moment comes later */
    rtp_wire_start(&e.c, 3, start);
    assert_true(start[0].has_time && start[0].has_seq && start[1].has_time && !start[1].has_seq);
    push_at(src, AV_AAC, false, 410, 160);
    rtp_wire_start(&e.c, 3, start);
    ear_take(&e);
    for (unsigned i = 0; i < RTP_WIRE_N; i++) {
        assert_true(start[i].has_time && start[i].has_seq);
        assert_int_equal(start[i].seq, nth_packet(&e, i, 0)->rtp.seq);
        assert_int_equal(start[i].time, rtp_wire_base(SEED, i)); /* the stream's time 0 */
    }
    assert_int_equal(nth_packet(&e, 1, 0)->rtp.time - start[1].time, 480);
    rtp_wire_start(&e.c, 3, start); /* it has everything */
    assert_false(start[0].has_time || start[1].has_time);
    ear_close(&e);
    live_end(src);
}

/* Audio without a configuration is announced before its first packet. */
static void test_start_of_fixed_types(void **state)
{
    static const struct {
        enum av_codec codec;
        int64_t clock;
    } sounds[] = { { AV_MP3, 90000 }, { AV_G711A, 8000 }, { AV_G711U, 8000 }, { AV_OPUS, 48000 } };

    (void)state;
    for (size_t i = 0; i < COUNT(sounds); i++) {
        struct live_source *src = source_new();
        struct rtp_wire_start start[RTP_WIRE_N];
        struct ear e;

        push_config(src, AV_H264);
        push_at(src, AV_H264, true, 0, 160);
        push_at(src, sounds[i].codec, false, 10, 160);
        push_at(src, AV_H264, true, 2000, 160);
        ear_open(&e, src, BOTH, 1400);
        rtp_wire_start(&e.c, 3, start);
        assert_true(start[0].has_seq && start[1].has_time && !start[1].has_seq);
        assert_int_equal(start[1].time,
                         rtp_wire_base(SEED, 1) + (uint32_t)(sounds[i].clock * 2));
        push_at(src, sounds[i].codec, false, 2010, 160);
        ear_take(&e);
        ear_check(&e);
        assert_int_equal(nth_packet(&e, 1, 0)->rtp.time - start[1].time, sounds[i].clock / 100);
        ear_close(&e);
        live_end(src);
    }
}

static void test_seed(void **state)
{
    char a[RTP_WIRE_CNAME], b[RTP_WIRE_CNAME];

    (void)state;
    assert_int_equal(rtp_wire_seed("v/a/s"), rtp_wire_seed("v/a/s"));
    assert_int_not_equal(rtp_wire_seed("v/a/s"), rtp_wire_seed("v/a/t"));
    for (uint32_t seed = 0; seed < 1000; seed++) {
        assert_int_not_equal(rtp_wire_ssrc(seed, 0), rtp_wire_ssrc(seed, 1));
        assert_int_not_equal(rtp_wire_ssrc(seed, 0), rtp_wire_ssrc(seed + 1, 0));
        assert_int_not_equal(rtp_wire_base(seed, 0), rtp_wire_ssrc(seed, 0));
    }
    rtp_wire_cname(1, a);
    rtp_wire_cname(2, b);
    assert_string_not_equal(a, b);
}

/* ---- the wall clock of reports */

static void test_wall(void **state)
{
    static const struct {
        const char *name;
        int64_t late, every; /* delay of each moment relative to the previous one, microseconds */
        int moments, far;    /* final offset, at most, milliseconds */
    } walls[] = {
        { "steady", 0, 2000, 100, 0 },
        { "a clock that is 100 ppm slow", 200, 2000, 4000, 101 },
        { "a clock that is 100 ppm fast", -200, 2000, 4000, 101 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(walls); i++) {
        struct rtp_wire_wall w = { .known = false };
        int64_t came = INT64_C(1700000000000000), moment = AV_MS(5000), last = 0, at = came;

        for (int n = 0; n <= walls[i].moments; n++) {
            at = rtp_wire_wall_at(&w, moment, came);
            assert_true(at > last);
            last = at;
            assert_in_range(at - came + walls[i].far * 1000, 0, walls[i].far * 2000);
            moment += AV_MS(walls[i].every);
            came += walls[i].every * 1000 + walls[i].late;
        }
    }
}

/* A short delay changes nothing; a long one does. Early data never makes it go back. */
static void test_wall_jumps(void **state)
{
    struct rtp_wire_wall w = { .known = false };
    int64_t came = INT64_C(1700000000000000), last;

    (void)state;
    assert_int_equal(rtp_wire_wall_at(&w, 0, came), came);
    assert_int_equal(rtp_wire_wall_at(&w, AV_MS(2000), came + 2050000), came + 2000000);
    assert_int_equal(rtp_wire_wall_at(&w, AV_MS(1000), came + 2060000), came + 2000000);
    last = rtp_wire_wall_at(&w, AV_MS(4000), came + 9000000);
    assert_int_equal(last, came + 4002000);
    for (int i = 0; i < 6; i++)
        last = rtp_wire_wall_at(&w, AV_MS(6000 + i * 2000), came + 11000000 + i * 2000000);
    assert_int_equal(last, came + 21000000);
    for (int i = 0; i < 60; i++) { /* an hour back */
        int64_t at = rtp_wire_wall_at(&w, AV_MS(20000 + i * 2000), came - INT64_C(3600000000));

        assert_true(at > last);
        last = at;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_publisher_comes_back), TEST(test_another_codec),
        TEST(test_another_configuration), TEST(test_start), TEST(test_start_of_fixed_types),
        TEST(test_seed), TEST(test_wall), TEST(test_wall_jumps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
