/* SPDX-License-Identifier: MIT */
/* test_vod_feed.c - a player of a file: its clock, its position, its tracks. */
#include "vod_viewer.h"

#include "format/flv/flv.h"

/* Number of samples that begin before this time. */
static unsigned samples_until(int64_t from, int64_t dts)
{
    struct made_sample v[MADE_SAMPLES];
    unsigned count = 0;

    for (uint64_t place = 0; place < MADE_GROUPS; place++) {
        unsigned n = made_group(place, v);

        for (unsigned i = 0; i < n; i++)
            count += v[i].dts >= from && v[i].dts <= dts;
    }
    return count;
}

/* The samples up to this time, and at most the rest of a part. The start of the next group is
 * known to within a frame of audio. */
static void assert_until(unsigned n, int64_t from, int64_t dts)
{
    assert_in_range(n, samples_until(from, dts - MADE_AUDIO),
                    samples_until(from, dts + av_from_us(VOD_TURN_MOST)));
}

static void paces_by_the_clock(void **state)
{
    struct viewer p;

    (void)state;
    made_begin();
    viewer_open(&p, &vod_wire_flv);
    assert_false(p.f.feed.kind->ready(&p.f.feed));
    assert_int_equal(viewer_take(&p, SIZE_MAX), 0);
    assert_int_equal(vod_feed_play(&p.f, 0, INT64_MAX, VOD_SCALE_1), 0);
    assert_true(p.f.feed.kind->ready(&p.f.feed));
    for (int i = 0; i < 20; i++) {
        viewer_turn(&p);
        viewer_read_tags(&p.got);
        assert_until(tags.n, 0, MADE_SECOND + i * (int64_t)AV_MS(350));
        assert_int_equal(p.f.feed.kind->lag(&p.f.feed), 0);
        assert_int_equal(p.f.offset, 0); /* between two parts */
        made_pass(CO_MS(350));
        assert_in_range(p.f.feed.kind->lag(&p.f.feed), 0, CO_MS(350));
        assert_in_range(p.f.feed.kind->pending(&p.f.feed), 0, 40);
        assert_in_range(vod_feed_position(&p.f), (i + 1) * AV_MS(350) - 1,
                        (i + 1) * AV_MS(350) + 1);
    }
    viewer_finish(&p);
}

static void stands_still_while_paused(void **state)
{
    struct viewer p;
    unsigned n;

    (void)state;
    viewer_begin(&p, &vod_wire_flv, 0);
    viewer_turn(&p);
    made_pass(CO_MS(500));
    p.f.feed.kind->paused(&p.f.feed, true);
    made_pass(CO_SECONDS(100));
    assert_int_equal(vod_feed_position(&p.f), AV_MS(500));
    p.f.feed.kind->paused(&p.f.feed, false);
    viewer_turn(&p);
    viewer_read_tags(&p.got);
    n = tags.n;
    assert_until(n, 0, MADE_SECOND + AV_MS(500));
    /* a new position while paused: it stays there */
    p.f.feed.kind->paused(&p.f.feed, true);
    assert_int_equal(vod_feed_play(&p.f, AV_MS(5200), INT64_MAX, VOD_SCALE_1), AV_MS(5000));
    made_pass(CO_SECONDS(100));
    assert_int_equal(vod_feed_position(&p.f), AV_MS(5000));
    p.f.feed.kind->paused(&p.f.feed, false);
    viewer_turn(&p);
    viewer_read_tags(&p.got);
    assert_int_equal(tags.times[n], 5000);
    assert_until(tags.n - n, AV_MS(5000), AV_MS(6000));
    viewer_finish(&p);
}

static void catches_up_unless_too_late(void **state)
{
    struct viewer p;

    (void)state;
    viewer_begin(&p, &vod_wire_flv, 0);
    viewer_turn(&p);
    made_pass(CO_SECONDS(4));
    assert_in_range(p.f.feed.kind->lag(&p.f.feed), CO_MS(3600), CO_MS(4000));
    viewer_turn(&p);
    viewer_read_tags(&p.got);
    assert_until(tags.n, 0, AV_MS(5000));
    made_pass(CO_SECONDS(30));
    viewer_turn(&p);
    viewer_read_tags(&p.got);
    assert_in_range(tags.last, 5900, 6750);
    assert_false(p.f.feed.kind->ended(&p.f.feed));
    viewer_finish(&p);
}

/* Takes all that is due in pieces of this size; small ones at the start, where packets of all kinds
 * are. Parts that it does not hold may leave the store meanwhile. */
static const struct vod_wire *const wires[] = { &vod_wire_flv, &vod_wire_flv_ws, &vod_wire_rtmp,
                                                &vod_wire_rtp };

static void goes_on_wherever_it_was_cut(void **state)
{
    static const size_t sizes[] = { 1, 7, 1399, 4096, 70001 };

    (void)state;
    for (unsigned w = 0; w < COUNT(wires); w++) {
        struct viewer whole;

        viewer_begin(&whole, wires[w], 0);
        viewer_turn(&whole);
        for (unsigned i = 0; i < COUNT(sizes); i++) {
            struct viewer p;

            viewer_open(&p, wires[w]);
            vod_feed_play(&p.f, 0, INT64_MAX, VOD_SCALE_1);
            viewer_take_pieces(&p, sizes[i]);
            viewer_assert_same(&p, &whole);
            viewer_leave(&p);
        }
        viewer_finish(&whole);
    }
}

/* A seek at any byte: the rest of the packet comes first, then inserted data, then the new position. */
static void seeks_at_every_byte(void **state)
{
    static const uint8_t head[] = { 9, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 'h', 0, 0, 0, 12 };

    (void)state;
    for (size_t at = 1; at < 90000; at += at < 300 ? 1 : 997) {
        struct viewer p;

        viewer_begin(&p, &vod_wire_flv, 0);
        assert_int_equal(viewer_take(&p, at), at);
        vod_feed_play(&p.f, AV_MS(3000), INT64_MAX, VOD_SCALE_1);
        vod_feed_put_head(&p.f, head, sizeof(head)); /* is forgotten */
        vod_feed_play(&p.f, AV_MS(7000), INT64_MAX, VOD_SCALE_1);
        vod_feed_put_head(&p.f, head, 5);
        vod_feed_put_head(&p.f, head + 5, sizeof(head) - 5);
        made_evict();
        (void)viewer_take(&p, 3);
        viewer_turn(&p);
        viewer_read_tags(&p.got);
        for (unsigned i = 0, heads = 0; i < tags.n; i++) {
            heads += tags.sizes[i] == 1;
            assert_true(heads <= 1 && tags.times[i] < (heads ? 8351 : 1351));
            assert_true(!heads || tags.times[i] >= 7000 || tags.sizes[i] == 1);
            assert_true(heads || i < tags.n - 1);
        }
        assert_in_range(tags.last, 8000 - MADE_AUDIO / 90, 8350);
        viewer_finish(&p);
    }
}

static void fails_where_the_file_does(void **state)
{
    struct viewer p;

    (void)state;
    viewer_begin(&p, &vod_wire_flv, 0);
    viewer_turn(&p);
    made_fails(true);
    made_pass(CO_SECONDS(3));
    viewer_turn(&p);
    assert_true(vod_feed_failed(&p.f) && p.f.feed.kind->ended(&p.f.feed));
    viewer_read_tags(&p.got); /* whole */
    /* with data before the missing part */
    vod_feed_play(&p.f, AV_MS(9000), INT64_MAX, VOD_SCALE_1);
    vod_feed_put_head(&p.f, p.got.buf, tags.at[0] + tags.sizes[0] + FLV_TAG_TRAILER);
    viewer_turn(&p);
    assert_true(p.f.feed.kind->ended(&p.f.feed));
    viewer_read_tags(&p.got);
    made_fails(false);
    vod_feed_play(&p.f, AV_MS(7000), INT64_MAX, VOD_SCALE_1);
    viewer_go_to_end(&p);
    assert_false(vod_feed_failed(&p.f));
    viewer_finish(&p);
}

static void changes_its_tracks(void **state)
{
    struct viewer p;
    unsigned n, pictures = 0, configs = 0;

    (void)state;
    viewer_begin(&p, &vod_wire_flv, 0);
    viewer_turn(&p);
    vod_feed_tracks(&p.f, VOD_TRACKS_AUDIO);
    viewer_go_on(&p, CO_SECONDS(3));
    viewer_read_tags(&p.got);
    n = tags.n;
    assert_int_equal(tags.types[n - 1], FLV_AUDIO);
    assert_in_range(tags.pictures, 25, 60);
    vod_feed_tracks(&p.f, BOTH);
    viewer_go_on(&p, CO_SECONDS(3));
    viewer_read_tags(&p.got);
    for (unsigned i = n; i < tags.n; i++) {
        const uint8_t *body = p.got.buf + tags.at[i];

        if (tags.types[i] != FLV_VIDEO)
            continue;
        configs += body[1] == 0;
        if (pictures++ < 2)
            assert_int_equal(body[0], 0x17);
        assert_int_equal(body[1] == 0, pictures == 1);
    }
    assert_true(pictures > 30 && configs == 1);
    /* at a new position at once, with any kind of sample first */
    vod_feed_tracks(&p.f, VOD_TRACKS_AUDIO);
    vod_feed_play(&p.f, AV_MS(3000), INT64_MAX, VOD_SCALE_1);
    vod_feed_put_head(&p.f, p.got.buf, tags.at[0] + tags.sizes[0] + FLV_TAG_TRAILER);
    n = tags.n;
    viewer_turn(&p);
    viewer_read_tags(&p.got);
    assert_true(tags.n > n + 40);
    for (unsigned i = n + 1; i < tags.n; i++)
        assert_int_equal(tags.types[i], FLV_AUDIO);
    viewer_finish(&p);
}

static void puts_heads(void **state)
{
    struct vod_wire_use use = viewer_use(&vod_wire_flv);
    struct wr w;

    (void)state;
    made_begin();
    wr_init(&w, 1 << 16);
    vod_head_put(made, &use, AV_MS(5000), &w);
    viewer_read_tags(&w);
    assert_int_equal(tags.n, 3);
    assert_int_equal(tags.types[0], FLV_DATA);
    assert_int_equal(tags.times[0], 0);
    assert_int_equal(tags.types[1], FLV_VIDEO);
    assert_int_equal(tags.types[2], FLV_AUDIO);
    assert_int_equal(tags.times[1], 5080);
    assert_non_null(memmem(w.buf, w.len, "duration\0\x40\x24\0\0\0\0\0\0", 17)); /* 10 s */
    assert_non_null(memmem(w.buf, w.len, "width\0\x40\x74", 8));                 /* 320 */
    assert_non_null(memmem(w.buf, w.len, "videocodecid\0\x40\x1c", 15));         /* 7 */
    assert_non_null(memmem(w.buf, w.len, "audiosamplerate\0\x40\xe7\x70", 19));  /* 48000 */
    wr_free(&w);
    made_end();
}

/* Configurations of an FLV file are sent unchanged. */
static void puts_heads_as_they_came(void **state)
{
    static const uint8_t body[] = "\x17\0\0\0\0" CONFIG_H264;
    struct vod_wire_use use = viewer_use(&vod_wire_rtmp);
    struct wr w;

    (void)state;
    made_begin();
    made_info()->tracks[0].config = body + 5;
    made_info()->tracks[0].config_head = 5;
    wr_init(&w, 1 << 16);
    vod_head_put(made, &use, 0, &w);
    assert_non_null(memmem(w.buf, w.len, body, sizeof(body) - 1));
    wr_free(&w);
    made_end();
}

/* Its entry in lists. */
static void is_shown(void **state)
{
    struct viewer p;
    struct live_feed_info info;
    const struct live_feed_kind *kind;

    (void)state;
    made_begin();
    viewer_open(&p, &vod_wire_flv);
    kind = p.f.feed.kind;
    assert_true(kind->describe(&p.f.feed, &info));
    assert_int_equal(info.position, 0);
    (void)vod_feed_play(&p.f, AV_MS(4000), INT64_MAX, 2 * VOD_SCALE_1);
    assert_true(kind->describe(&p.f.feed, &info));
    assert_string_equal(info.name, "made up.flv");
    assert_int_equal(info.position, vod_feed_position(&p.f) * 100 / 9);
    assert_in_range(info.position, CO_SECONDS(3), CO_SECONDS(4));
    assert_int_equal(info.duration, CO_SECONDS(10));
    assert_int_equal(info.scale, 2000);
    assert_int_equal(info.tracks[LIVE_FEED_VIDEO].codec, AV_H264);
    assert_int_equal(info.tracks[LIVE_FEED_AUDIO].codec, AV_AAC);
    assert_true(info.tracks[LIVE_FEED_VIDEO].config_size > 0);
    viewer_leave(&p);
    p.f.feed.kind = kind;
    assert_false(kind->describe(&p.f.feed, &info)); /* it has none any more */
    made_end();
}

static void is_small(void **state)
{
    (void)state;
    assert_true(sizeof(struct vod_feed) <= 512);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(paces_by_the_clock),
        TEST(stands_still_while_paused),
        TEST(catches_up_unless_too_late),
        TEST(goes_on_wherever_it_was_cut),
        TEST(seeks_at_every_byte),
        TEST(fails_where_the_file_does),
        TEST(changes_its_tracks),
        TEST(puts_heads),
        TEST(puts_heads_as_they_came),
        TEST(is_shown),
        TEST(is_small),
    };

    return cmocka_run_group_tests(tests, made_setup, made_teardown);
}
