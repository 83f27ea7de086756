/* SPDX-License-Identifier: MIT */
/* test_rtc_play.c - the WebRTC players of a stream: admission, sending in one walk, removal. */
#include "rtc_audience.h"

#include <assert.h>

static bool full;

bool rtc_peer_is_full(const struct rtc_peer *p)
{
    (void)p;
    return full;
}

static uint8_t buf[MEDIA_FRAME_MAX];

/* Video and audio begin together at the live edge, with the newest key frame first; nothing is
 * missing and no time decreases. */
static void all_begin_at_the_newest_key_frame(void **state)
{
    struct rtc_listener *g;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 30, 25); /* a key frame and 4 others are there */
    g = audience_come(false, SRTP_NONE);
    audience_settle();
    assert_int_equal(g->video.frames, 5);
    assert_int_equal(g->begin[0] & 0x1f, 24); /* the sets */
    assert_true((int32_t)(g->video.time - g->video.first_time) < 4 * 3600 / 16);
    assert_int_equal(g->audio.packets, 0);
    assert_true(g->has_extension);
    audience_show(60, 25, 3000);
    audience_settle();
    assert_int_equal(g->video.frames, 65);
    assert_int_equal(g->audio.packets, 120);
    assert_int_equal(g->video.holes + g->audio.holes + g->video.back + g->audio.back, 0);
    assert_true(g->reports >= 2);
    assert_true(audience.service.stat.sent == g->video.packets + g->audio.packets);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

/* One call for a frame of pieces of one size. */
static void a_frame_is_few_calls(void **state)
{
    struct rtc_listener *g;
    unsigned before;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 1, 100);
    g = audience_come(false, SRTP_AEAD_AES_128_GCM);
    audience_settle();
    before = g->bursts;
    for (unsigned i = 0; i < 50; i++) {
        struct media_buf b = { buf, 0 };
        struct frame f;

        media_unit(&b, "\x41\x9a", 2, 4500, i);
        f = media_frame(AV_H264, false, AV_MS(audience.shown += 40), buf, b.n);
        push(audience.src, &f);
        co_yield();
        co_yield();
    }
    audience_settle();
    assert_int_equal(g->bursts - before, 50);
    assert_true(g->video.packets >= 200);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

static void without_cache_one_waits_for_the_next_one(void **state)
{
    struct rtc_listener *g;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", "play { gop_cache off; }"), 10, 25);
    g = audience_come(false, SRTP_NONE);
    audience_show(10, 25, 3000);
    audience_settle();
    assert_int_equal(g->video.packets, 0);
    assert_int_equal(g->audio.packets, 0); /* audio begins with video */
    audience_show(10, 25, 3000);
    audience_settle();
    assert_int_equal(g->video.frames, 5);
    assert_int_equal(g->begin[0] & 0x1f, 24);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

static void one_who_is_early_waits(void **state)
{
    struct rtc_listener *g;

    (void)state;
    audience_begin(AUDIENCE_CONF("", ""));
    g = audience_come(false, SRTP_NONE);
    audience_settle();
    audience_publish();
    audience.shown = 0;
    audience_show(5, 25, 3000);
    audience_settle();
    assert_int_equal(g->video.frames, 5);
    assert_int_equal(g->audio.packets, 10);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

/* A GOP that is too large to send at once. */
static void a_large_group_is_not_sent(void **state)
{
    struct rtc_listener *g;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 0, 50);
    audience_show(20, 50, 80000);
    g = audience_come(false, SRTP_NONE);
    audience_settle();
    assert_int_equal(g->video.packets, 0);
    audience_show(31, 50, 3000);
    audience_settle();
    assert_int_equal(g->video.frames, 1);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

/* A connection blocked for less than 2 s gets everything; then it continues at a key frame. */
static void who_is_far_behind_goes_on_at_a_key_frame(void **state)
{
    struct rtc_listener *g;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 5, 10);
    g = audience_come(false, SRTP_NONE);
    audience_settle();
    assert_int_equal(g->video.frames, 5);
    full = true;
    audience_show(3, 10, 3000);
    audience_settle();
    assert_int_equal(g->video.frames, 5);
    full = false;
    audience_settle();
    audience_show(1, 10, 3000);
    audience_settle();
    assert_int_equal(g->video.frames, 9);
    full = true;
    audience_show(3, 10, 3000); /* 12 so far */
    assert_ok(co_sleep(CO_MS(2050)));
    audience_show(1, 10, 3000);
    audience_settle();
    full = false;
    audience_show(5, 10, 3000); /* 18: no key frame yet */
    audience_settle();
    assert_int_equal(g->video.frames, 9);
    audience_show(4, 10, 3000); /* with that of 20 */
    audience_settle();
    assert_int_equal(g->video.frames, 11);
    assert_int_equal(g->peer.play->skips, 1);
    assert_int_equal(g->video.holes + g->video.back, 0);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

/* ---- the stream changes */

static void another_codec_ends_players(void **state)
{
    struct rtc_listener *g;
    struct frame f;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 10, 25);
    g = audience_come(false, SRTP_NONE);
    audience_settle();
    f = media_config_of(AV_VP9);
    push(audience.src, &f);
    f = media_make(AV_VP9, 0, 1000, buf);
    f.dts = f.pts = AV_MS(audience.shown);
    push(audience.src, &f);
    audience_settle();
    assert_int_equal(g->left, ERR_RTC_NEGOTIATE);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

static bool all_have(unsigned frames)
{
    for (unsigned i = 0; i < audience.n_guests; i++) {
        if (audience.guests[i] && audience.guests[i]->video.frames < frames)
            return false;
    }
    return true;
}

static void many_are_served_though_some_leave(void **state)
{
    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 30, 25);
    for (unsigned i = 0; i < MOST; i++)
        (void)audience_come(i & 1, SRTP_AEAD_AES_128_GCM);
    audience_show(25, 25, 3000);
    for (unsigned i = 0; i < MOST; i += 3) {
        audience_leave(audience.guests[i]);
        audience.guests[i] = NULL;
    }
    audience_show(25, 25, 3000);
    for (int i = 0; i < 100 && !all_have(55); i++)
        audience_settle();
    for (unsigned i = 0; i < MOST; i++) {
        if (!audience.guests[i])
            continue;
        assert_int_equal(audience.guests[i]->video.frames, 55);
        assert_int_equal(audience.guests[i]->video.holes + audience.guests[i]->audio.holes, 0);
    }
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

/* A GOP takes several turns: they cover the players that need them, and no others. */
static void who_has_just_come_catches_up_in_turns(void **state)
{
    struct rtc_listener *g;
    unsigned before;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 1, 100);
    g = audience_come(false, SRTP_NONE);
    audience_show(39, 100, 9000);
    audience_settle();
    assert_int_equal(g->video.frames, 40);
    before = g->bursts;
    for (unsigned i = 0; i < 40; i++)
        (void)audience_come(i & 1, SRTP_AEAD_AES_128_GCM);
    audience_leave(audience.guests[20]); /* in the middle of it */
    audience.guests[20] = NULL;
    for (int i = 0; i < 100 && !all_have(40); i++)
        audience_settle();
    assert_true(all_have(40));
    assert_int_equal(g->bursts, before);
    for (unsigned i = 1; i < audience.n_guests; i++)
        assert_true(!audience.guests[i] || audience.guests[i]->video.holes + audience.guests[i]->video.back == 0);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

static void wishes_are_what_the_stream_has(void **state)
{
    struct sdp_spec spec = { 0 };
    struct rtc_listener *g;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 10, 25);
    g = audience_come(false, SRTP_NONE);
    rtc_play_spec(&g->peer, &spec);
    assert_int_equal(spec.codec[AV_VIDEO], AV_H264);
    assert_int_equal(spec.codec[AV_AUDIO], AV_OPUS);
    assert_int_equal(spec.profile[0], 0x64);
    assert_int_equal(spec.channels, 2);
    assert_false(spec.none[AV_VIDEO] || spec.none[AV_AUDIO]);
    audience_leave_all();
    audience_unpublish();
    audience_end();
}

static void their_bytes_count_for_the_stream(void **state)
{
    struct live_source_stat stat;
    struct rtc_listener *g;

    (void)state;
    audience_begin_show(AUDIENCE_CONF("", ""), 30, 25);
    g = audience_come(false, SRTP_NONE);
    audience_settle();
    rtc_play_count(&g->peer);
    live_source_stat(audience.src, &stat);
    assert_int_equal(stat.out_bytes, g->peer.base.session.out);
    assert_int_equal(stat.consumers, 1);
    assert_true(stat.out_bytes > 10000);
    audience_leave_all();
    live_source_stat(audience.src, &stat);
    assert_int_equal(stat.consumers, 0);
    audience_unpublish();
    audience_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_begin_at_the_newest_key_frame),
        TEST(a_frame_is_few_calls),
        TEST(without_cache_one_waits_for_the_next_one),
        TEST(one_who_is_early_waits),
        TEST(a_large_group_is_not_sent),
        TEST(who_is_far_behind_goes_on_at_a_key_frame),
        TEST(another_codec_ends_players),
        TEST(many_are_served_though_some_leave),
        TEST(who_has_just_come_catches_up_in_turns),
        TEST(wishes_are_what_the_stream_has),
        TEST(their_bytes_count_for_the_stream),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
