/* SPDX-License-Identifier: MIT */
/* test_rtmfp_play.c - what an RTMFP player's flows contain of a live stream: where it
 * begins, what it abandons on a slow link, and what it disabled. */
#include "rtmfp_player.h"
#include "rtp_media.h"

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_OFF, .gop_cache_max_frames = 100000,
    .queue_length = CO_SECONDS(30), .max_bytes = 64 << 20,
};
static uint8_t frame_buf[MEDIA_FRAME_MAX];

/* ---- a player without a session: the test reads its flows */

struct fixture {
    struct rtmfp_player p;
    struct rtmfp_flow_out words, audio, video;
    co_usec now;
    bool said;
};

static struct fixture t; /* large */

static void setup_of(const struct live_settings *set, size_t max_bytes)
{
    memset(&t, 0, sizeof(t));
    t.now = co_now();
    rtmfp_player_begin(&t.p, set, max_bytes);
    rtmfp_flow_out_init(&t.words, 1, RTMFP_COMMANDS);
    rtmfp_flow_out_init(&t.audio, 2, RTMFP_AUDIO);
    rtmfp_flow_out_init(&t.video, 3, RTMFP_VIDEO);
    t.p.n.control = &t.words;
    t.p.n.audio = &t.audio;
    t.p.n.video = &t.video;
}

static void setup(const struct live_settings *set)
{
    setup_of(set, 64 << 20);
}

static void finish(void)
{
    rtmfp_flow_out_fini(&t.words);
    rtmfp_flow_out_fini(&t.audio);
    rtmfp_flow_out_fini(&t.video);
    rtmfp_player_end(&t.p);
}

static void push_at(enum av_codec codec, bool key, int64_t ms, size_t size)
{
    struct frame f = media_make(codec, key ? 0 : 1, size, frame_buf);

    f.dts = f.pts = AV_MS(ms);
    push(t.p.src, &f);
}

static void push_configs(void)
{
    struct frame video = media_config_of(AV_H264), audio = media_config_of(AV_AAC);

    push(t.p.src, &video);
    push(t.p.src, &audio);
}

static void turn(co_usec later)
{
    t.now += later;
    rtmfp_wire_take(t.p.wire, t.now);
    t.said = rtmfp_play_turn(&t.p.n, t.now);
}

/* Everything queued in a flow is sent. */
static void drain(struct rtmfp_flow_out *f)
{
    (void)rtmfp_flow_out_abandon(f, INT64_MAX);
    while (f->waiting_n > 0) {
        struct rtmfp_cut cut;

        f->room = UINT32_MAX;
        assert_true(rtmfp_flow_out_next(f, 60000, 0, 1, &cut));
    }
}

static uint8_t first_byte(const struct rtmfp_flow_out *f, unsigned i)
{
    return f->waiting[(f->waiting_first + i) & (f->waiting_room - 1)].message->bytes[6];
}

/* ---- the tests */

static void it_begins_at_the_newest_key_frame_with_what_is_in_force(void **state)
{
    (void)state;
    setup(&settings);
    push_configs();
    for (int i = 0; i < 25; i++) {
        push_at(AV_H264, i % 10 == 0, i * 40, 900);
        push_at(AV_AAC, false, i * 40 + 1, 100);
    }
    turn(0);
    assert_int_equal(t.video.waiting_n, 1 + 5);
    assert_int_equal(first_byte(&t.video, 0), 0); /* a sequence header */
    assert_int_equal(t.audio.waiting_n, 1 + 5);
    assert_int_equal(first_byte(&t.audio, 0), 0);
    assert_true(t.said);
    assert_int_equal(t.p.n.play.sent, 12);
    turn(CO_MS(10));
    assert_int_equal(t.p.n.play.sent, 12);
    finish();
}

static void without_cache_it_waits_for_the_next_key_frame(void **state)
{
    struct live_settings set = settings;

    (void)state;
    set.gop_cache = false;
    setup(&set);
    push_configs();
    push_at(AV_H264, true, 0, 900);
    turn(0);
    turn(0);
    push_at(AV_H264, false, 40, 900);
    push_at(AV_AAC, false, 41, 100);
    turn(CO_MS(40));
    assert_int_equal(t.video.waiting_n + t.audio.waiting_n, 0);
    push_at(AV_H264, true, 80, 900);
    push_at(AV_AAC, false, 81, 100);
    turn(CO_MS(40));
    assert_int_equal(t.video.waiting_n, 2);
    assert_int_equal(t.audio.waiting_n, 2);
    finish();
}

static void late_video_is_dropped_at_a_key_frame_and_audio_is_not(void **state)
{
    (void)state;
    setup(&settings);
    push_configs();
    for (int i = 0; i <= 20; i++) { /* nothing is sent of it */
        push_at(AV_H264, i % 10 == 0, i * 40, 900);
        push_at(AV_AAC, false, i * 40 + 1, 100);
        turn(CO_MS(40));
        assert_true(t.video.waiting_n <= 1 + 1 + 10);
    }
    assert_int_equal(t.video.waiting_n, 1 + 1); /* the configuration, and the newest GOP */
    assert_int_equal(t.audio.waiting_n, 1 + 21);
    assert_int_equal(t.p.n.play.abandoned, 20);
    assert_int_equal(t.p.n.play.skips, 0);
    finish();
}

static void new_video_is_not_dropped(void **state)
{
    (void)state;
    setup(&settings);
    push_configs();
    push_at(AV_H264, true, 0, 900);
    turn(0);
    drain(&t.video);
    t.p.n.play.abandoned = 0;
    push_at(AV_H264, false, 40, 900);
    push_at(AV_H264, true, 80, 900);
    turn(CO_MS(80));
    assert_int_equal(t.video.waiting_n, 2);
    assert_int_equal(t.p.n.play.abandoned, 0);
    finish();
}

static void one_that_is_over_a_limit_goes_on_at_a_key_frame(void **state)
{
    (void)state;
    setup(&settings);
    push_configs();
    for (int i = 0; i < 60; i++) { /* one GOP, 6 MB */
        push_at(AV_H264, i == 0, i * 40, 100000);
        push_at(AV_AAC, false, i * 40 + 1, 100);
        turn(CO_MS(40));
        assert_in_range(t.video.waiting_bytes, 0, (4 << 20) + 200000);
    }
    assert_int_equal(t.p.n.play.skips, 1);
    assert_int_equal(t.p.service.stat.skips, 1);
    assert_int_equal(t.video.waiting_n, 1); /* the configuration */
    assert_int_equal(t.audio.waiting_n, 1 + 60);
    push_at(AV_H264, true, 2400, 900);
    turn(CO_MS(40));
    assert_int_equal(t.video.waiting_n, 3); /* that, once more, and the key frame */
    assert_false(rtmfp_player_is_closed(&t.p));
    finish();
}

static void audio_that_is_far_behind_is_given_up(void **state)
{
    struct live_settings set = settings;

    (void)state;
    set.queue_length = CO_SECONDS(1);
    setup(&set);
    push_configs();
    push_at(AV_H264, true, 0, 900);
    turn(0);
    for (int i = 1; i < 1000; i++) {
        push_at(AV_AAC, false, i * 40, 100);
        turn(CO_MS(40));
        assert_true(t.audio.waiting_n <= 1 + 280);
    }
    assert_in_range(t.p.n.play.skips, 2, 5);
    assert_false(rtmfp_player_is_closed(&t.p));
    finish();
}

static void what_the_wire_forgot_is_made_up_for_by_a_key_frame(void **state)
{
    (void)state;
    setup_of(&settings, 20000);
    push_configs();
    push_at(AV_H264, true, 0, 900);
    turn(0);
    drain(&t.video);
    drain(&t.audio);
    push_configs();
    for (int i = 1; i < 100; i++) /* in one turn more than it keeps */
        push_at(AV_H264, false, i * 40, 900);
    turn(CO_SECONDS(4));
    assert_int_equal(t.p.n.play.skips, 1);
    assert_int_equal(t.video.waiting_n, 1);
    assert_int_equal(t.audio.waiting_n, 1);
    push_at(AV_H264, true, 4000, 900);
    push_at(AV_AAC, false, 4001, 100);
    turn(CO_MS(40));
    assert_int_equal(t.video.waiting_n, 3);
    assert_int_equal(t.audio.waiting_n, 2);
    assert_false(rtmfp_player_is_closed(&t.p));
    finish();
}

static void what_it_does_not_want_is_left_out(void **state)
{
    (void)state;
    setup(&settings);
    push_configs();
    push_at(AV_H264, true, 0, 900);
    turn(0);
    t.p.n.play.no_video = true;
    rtmfp_play_apply(&t.p.n);
    push_at(AV_H264, false, 40, 900);
    push_at(AV_AAC, false, 41, 100);
    turn(CO_MS(40));
    assert_int_equal(t.video.waiting_n, 1); /* the configuration is kept */
    assert_int_equal(t.audio.waiting_n, 2);
    t.p.n.play.no_video = false;
    rtmfp_play_apply(&t.p.n);
    push_at(AV_H264, false, 80, 900);
    turn(CO_MS(40));
    assert_int_equal(t.video.waiting_n, 1);
    push_at(AV_H264, true, 120, 900);
    turn(CO_MS(40));
    assert_int_equal(t.video.waiting_n, 3);
    t.p.n.play.paused = true;
    rtmfp_play_apply(&t.p.n);
    push_at(AV_H264, false, 160, 900);
    turn(CO_MS(40));
    assert_int_equal(t.video.waiting_n, 2);
    t.p.n.play.paused = false;
    rtmfp_play_apply(&t.p.n);
    turn(CO_MS(40));
    assert_int_equal(t.video.waiting_n, 2 + 1 + 2); /* from the newest key frame on */
    finish();
}

static int start(void **state)
{
    (void)state;
    assert_ok(co_init());
    return 0;
}

static int stop(void **state)
{
    (void)state;
    co_fini();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_begins_at_the_newest_key_frame_with_what_is_in_force),
        TEST(without_cache_it_waits_for_the_next_key_frame),
        TEST(late_video_is_dropped_at_a_key_frame_and_audio_is_not),
        TEST(new_video_is_not_dropped),
        TEST(one_that_is_over_a_limit_goes_on_at_a_key_frame),
        TEST(audio_that_is_far_behind_is_given_up),
        TEST(what_the_wire_forgot_is_made_up_for_by_a_key_frame),
        TEST(what_it_does_not_want_is_left_out),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
