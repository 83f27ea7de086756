/* SPDX-License-Identifier: MIT */
/* test_wire_rtc.c - a live stream as packets for WebRTC players: packed, unpacked and
 * compared; where players start, times, changes of the publisher, and relayed
 * packets. */
#include "wire/rtc.h"

#include "publisher.h"
#include "wire/rtc_impl.h"

#include <assert.h>

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_OFF, .gop_cache_max_frames = 100000,
    .queue_length = CO_SECONDS(30), .max_bytes = 64 << 20,
};
static const struct rtc_wire_opts plain = { .max_bytes = 8 << 20, .keep_sei = true };
static uint8_t frame_buf[MEDIA_FRAME_MAX];

struct wired {
    struct live_source *src;
    struct rtc_wire *w;
    struct rtp_log *log;
    uint64_t at; /* position in the log, read up to here */
};

static void setup(struct wired *t, const struct rtc_wire_opts *opts)
{
    *t = (struct wired){ .src = live_begin(&settings) };
    t->w = rtc_wire_new(t->src, opts);
    t->log = rtc_wire_log(t->w);
}

static void finish(struct wired *t)
{
    rtc_wire_free(t->w);
    live_end(t->src);
}

static void take(struct wired *t)
{
    while (rtc_wire_take(t->w, co_now()))
        ;
}

/* ---- unpack what was packed */

enum { MADE = 40 };

struct ears {
    struct rtp_unpacker u;
    int64_t number;
    unsigned frames, keys;
};

/* The unpacker returns what was pushed, generated again. */
static void is_next(struct ears *e, enum av_codec codec, const struct rtp_frame *out,
                    const size_t sizes[MADE])
{
    struct frame f = media_make(codec, e->frames, sizes[e->frames], frame_buf);

    assert_int_equal(out->size, f.size);
    assert_memory_equal(out->data, f.data, f.size);
    assert_int_equal(out->key, f.key);
    assert_int_equal(out->ticks, f.kind == AV_VIDEO ? f.pts : f.pts * 8 / 15);
    e->frames++;
}

static void hear(struct wired *t, struct ears *e, enum av_codec codec, const size_t sizes[MADE])
{
    struct rtp_log_entry in;

    for (; rtp_log_get(t->log, t->at, &in); t->at++) {
        struct rtp_payload p = { .data = in.data, .size = in.size, .ticks = in.ticks,
                                 .marker = in.marker };
        struct rtp_frame out;

        assert_true(in.size > 0 && in.size <= RTC_WIRE_PAYLOAD);
        assert_true(e->number == -1 || in.number == e->number + 1);
        assert_int_equal(in.track, av_codec_row(codec)->kind == AV_VIDEO ? 0 : 1);
        e->number = in.number;
        e->keys += in.key;
        rtp_unpack_put(&e->u, &p);
        while (rtp_unpack_next(&e->u, &out)) {
            if (!out.config)
                is_next(e, codec, &out, sizes);
        }
    }
}

static void comes_out(enum av_codec codec)
{
    static const size_t video[] = { 5, 900, 1190, 1200, 1201, 5000, 40000, 200 };
    const struct rtp_unpacker_opts opts = { .fmt = rtp_format_of(codec) };
    enum av_kind kind = av_codec_row(codec)->kind;
    struct ears e = { .number = -1 };
    size_t sizes[MADE];
    struct wired t;

    setup(&t, &plain);
    assert_ok(rtp_unpacker_init(&e.u, &opts));
    rtc_wire_wanted(t.w, true);
    push_config(t.src, codec);
    for (unsigned i = 0; i < MADE; i++) {
        sizes[i] = kind == AV_VIDEO ? video[i % COUNT(video)] : 60 + i;
        (void)push_made(t.src, codec, i, sizes[i]);
        take(&t);
        hear(&t, &e, codec, sizes);
    }
    assert_true(e.frames >= MADE - 2); /* the last ones wait for the next frame */
    assert_int_equal(e.keys, kind == AV_VIDEO ? 4 : 0);
    assert_int_equal(rtc_wire_codec(t.w, kind), codec);
    assert_int_equal(rtc_wire_codec(t.w, kind == AV_VIDEO ? AV_AUDIO : AV_VIDEO), AV_CODEC_NONE);
    rtp_unpacker_fini(&e.u);
    finish(&t);
}

static void what_was_packed_is_what_comes_out(void **state)
{
    static const enum av_codec codecs[] = { AV_H264, AV_H265, AV_AV1, AV_VP9, AV_OPUS };

    (void)state;
    for (size_t i = 0; i < COUNT(codecs); i++)
        comes_out(codecs[i]);
}

/* [H264] Parameter sets are one packet before a key frame, SPS first, with its time; the fragments
 * of a frame except the last have one size. */
static void sets_go_in_front_and_pieces_are_even(void **state)
{
    struct wired t;
    struct rtp_log_entry e, first;

    (void)state;
    setup(&t, &plain);
    rtc_wire_wanted(t.w, true);
    push_config(t.src, AV_H264);
    for (int i = 0; i < 2; i++) {
        struct media_buf b = { frame_buf, 0 };
        struct frame f;

        media_unit(&b, "\x09\x10", 2, 0, 1); /* delimiter */
        media_unit(&b, "\x65\x88", 2, 5000, 1);
        media_unit(&b, "\x0c\xff", 2, 40, 1); /* filler */
        media_unit(&b, "\x0a", 1, 0, 1);      /* end of sequence */
        f = media_frame(AV_H264, true, 3000 * i, frame_buf, b.n);
        push(t.src, &f);
    }
    take(&t);
    assert_true(rtp_log_get(t.log, 0, &e));
    assert_true(e.key && !e.marker && e.ticks == 0);
    assert_int_equal(e.data[0] & 0x1f, 24);
    assert_int_equal(e.data[3] & 0x1f, 7);
    assert_true(rtp_log_get(t.log, 1, &first));
    for (uint64_t n = 1; n <= 5; n++) {
        assert_true(rtp_log_get(t.log, n, &e));
        assert_int_equal(e.data[0] & 0x1f, 28);
        assert_int_equal(e.marker, n == 5);
        assert_int_equal(e.ticks, 0);
        assert_true(n == 5 ? e.size <= first.size : e.size == first.size);
        assert_false(e.key);
    }
    assert_int_equal(rtp_log_head(t.log), 12);
    finish(&t);
}

static void options_count(void **state)
{
    static const struct {
        bool keep_sei, merge;
        unsigned sei, groups, slices;
    } rows[] = {
        { true, false, 2, 0, 4 }, { false, false, 0, 0, 4 }, { true, true, 0, 2, 0 },
        { false, true, 0, 2, 0 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtc_wire_opts opts = plain;
        struct wired t;

        opts.keep_sei = rows[i].keep_sei;
        opts.merge_nalus = rows[i].merge;
        setup(&t, &opts);
        rtc_wire_wanted(t.w, true);
        push_config(t.src, AV_H264);
        (void)push_made(t.src, AV_H264, 0, 20);
        take(&t);
        t.at = rtp_log_head(t.log);
        (void)push_made(t.src, AV_H264, 3, 200);
        (void)push_made(t.src, AV_H264, 6, 200);
        take(&t);
        {
            unsigned sei = 0, groups = 0, slices = 0;
            struct rtp_log_entry e;

            for (uint64_t p = t.at; rtp_log_get(t.log, p, &e); p++) {
                sei += (e.data[0] & 0x1f) == 6;
                groups += (e.data[0] & 0x1f) == 24;
                slices += (e.data[0] & 0x1f) == 1;
            }
            assert_int_equal(sei, rows[i].sei);
            assert_int_equal(groups, rows[i].groups);
            assert_int_equal(slices, rows[i].slices);
        }
        finish(&t);
    }
}

/* ---- order */

static void push_b(struct wired *t, const char *head, int64_t dts_ms, int64_t pts_ms)
{
    struct media_buf b = { frame_buf, 0 };
    struct frame f;

    media_unit(&b, head, 2, 100, 1);
    f = media_frame(AV_H264, (head[0] & 0x1f) == 5, AV_MS(dts_ms), frame_buf, b.n);
    f.pts = AV_MS(pts_ms);
    push(t->src, &f);
}

/* In decoding order I P B b P, times in display order. `ref`: others need the first B. */
static void push_group(struct wired *t, bool ref)
{
    push_config(t->src, AV_H264);
    push_b(t, "\x65\x88", 0, 80);
    push_b(t, "\x41\x9a", 40, 200);
    push_b(t, ref ? "\x21\x9e" : "\x01\x9e", 80, 120);
    push_b(t, "\x01\x9e", 120, 160);
    push_b(t, "\x41\x9a", 160, 320);
    take(t);
}

static void frames_come_in_display_order(void **state)
{
    static const struct {
        bool keep, ref;
        unsigned n;
        int64_t ms[5];
    } rows[] = {
        { false, false, 3, { 80, 200, 320 } },
        { true, false, 5, { 80, 200, 120, 160, 320 } },
        { true, true, 5, { 80, 200, 120, 160, 320 } },
        { false, true, 2, { 80, 200 } }, /* none that may need a missing one */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtc_wire_opts opts = plain;
        struct rtp_log_entry e;
        struct wired t;
        uint64_t p = 1;

        opts.keep_bframe = rows[i].keep;
        setup(&t, &opts);
        rtc_wire_wanted(t.w, true);
        push_group(&t, rows[i].ref);
        assert_int_equal(rtp_log_head(t.log), rows[i].n + 1); /* and the parameter sets */
        for (unsigned n = 0; n < rows[i].n; n++, p++) {
            assert_true(rtp_log_get(t.log, p, &e));
            assert_in_range(e.ticks, AV_MS(rows[i].ms[n]), AV_MS(rows[i].ms[n]) + 1);
        }
        finish(&t);
    }
}

/* A frame is not a B-frame because of its publisher's times: frames that others need stay, at their place. */
static void times_that_go_back_are_put_right(void **state)
{
    static const int64_t want[] = { AV_MS(80), AV_MS(200), AV_MS(200) + 1, AV_MS(240) };
    struct rtp_log_entry e;
    struct wired t;

    (void)state;
    setup(&t, &plain);
    rtc_wire_wanted(t.w, true);
    push_config(t.src, AV_H264);
    push_b(&t, "\x65\x88", 80, 80);
    push_b(&t, "\x41\x9a", 120, 200);
    push_b(&t, "\x41\x9a", 160, 160);
    push_b(&t, "\x41\x9a", 200, 240);
    take(&t);
    assert_int_equal(rtp_log_head(t.log), COUNT(want) + 1);
    for (size_t i = 0; i < COUNT(want); i++) {
        assert_true(rtp_log_get(t.log, i + 1, &e));
        assert_int_equal(e.ticks, want[i]);
    }
    finish(&t);
}

/* ---- players come and go */

static void nothing_is_split_without_players(void **state)
{
    struct wired t;
    uint64_t key;

    (void)state;
    setup(&t, &plain);
    push_config(t.src, AV_H264);
    for (unsigned i = 0; i < 15; i++)
        (void)push_made(t.src, AV_H264, i, 300);
    take(&t);
    assert_int_equal(rtp_log_head(t.log), 0);
    assert_int_equal(rtc_wire_codec(t.w, AV_VIDEO), AV_H264);
    rtc_wire_wanted(t.w, true);
    take(&t);
    assert_true(rtp_log_key(t.log, &key));
    assert_int_equal(key, 0); /* the newest GOP */
    assert_true(rtp_log_head(t.log) > 5);
    rtc_wire_wanted(t.w, false);
    assert_int_equal(rtp_log_first(t.log), rtp_log_head(t.log));
    finish(&t);
}

static void the_next_publisher_goes_on_in_numbers_and_times(void **state)
{
    struct rtp_log_entry e, last;
    struct wired t;

    (void)state;
    setup(&t, &plain);
    rtc_wire_wanted(t.w, true);
    push_config(t.src, AV_H264);
    (void)push_made(t.src, AV_H264, 0, 300);
    take(&t);
    assert_true(rtp_log_get(t.log, rtp_log_head(t.log) - 1, &last));
    live_source_end(t.src, &me);
    assert_ok(live_source_begin(t.src, &me, &rule));
    push_config(t.src, AV_VP9);
    (void)push_made(t.src, AV_VP9, 0, 300);
    take(&t);
    assert_true(rtp_log_get(t.log, rtp_log_head(t.log) - 1, &e));
    assert_int_equal(e.number, last.number + 1);
    assert_int_equal(rtc_wire_codec(t.w, AV_VIDEO), AV_VP9);
    assert_true(e.key);
    finish(&t);
}

static unsigned news;

static void on_packets(void *arg)
{
    assert_ptr_equal(arg, &news);
    news++;
}

static void who_serves_is_told_once(void **state)
{
    struct rtc_wire_opts opts = plain;
    struct wired t;

    (void)state;
    opts.on_packets = on_packets;
    opts.arg = &news;
    news = 0;
    setup(&t, &opts);
    push_config(t.src, AV_H264);
    rtc_wire_wanted(t.w, true);
    take(&t);
    for (unsigned i = 0; i < 3; i++) {
        (void)push_made(t.src, AV_H264, i, 300);
        co_yield();
        co_yield();
    }
    assert_int_equal(news, 1);
    take(&t);
    co_yield();
    co_yield();
    assert_int_equal(news, 1);
    (void)push_made(t.src, AV_H264, 4, 300);
    co_yield();
    co_yield();
    assert_int_equal(news, 2);
    finish(&t);
}

/* ---- clocks */

static void both_tracks_have_one_clock(void **state)
{
    int64_t ticks[2], us[2];
    struct wired t;

    (void)state;
    setup(&t, &plain);
    rtc_wire_wanted(t.w, true);
    push_config(t.src, AV_H264);
    push_config(t.src, AV_OPUS);
    assert_false(rtc_wire_moment(t.w, AV_VIDEO, &ticks[0], &us[0]));
    for (unsigned i = 0; i < 10; i++) {
        (void)push_made(t.src, AV_H264, i, 300);
        (void)push_made(t.src, AV_OPUS, i, 100);
    }
    take(&t);
    assert_true(rtc_wire_moment(t.w, AV_VIDEO, &ticks[0], &us[0]));
    assert_true(rtc_wire_moment(t.w, AV_AUDIO, &ticks[1], &us[1]));
    assert_in_range(ticks[1] * 15 / 8, ticks[0] - 2, ticks[0] + 2);
    assert_in_range(us[1], us[0] - 10, us[0] + 10);
    assert_in_range(us[0], co_wall_ms() * 1000 - 1000000, co_wall_ms() * 1000 + 1000);
    finish(&t);
}

/* ---- relayed packets */

static void relay(struct wired *t, unsigned track, int64_t number, int64_t ticks, const char *bytes,
                  size_t size)
{
    struct rtp_log_entry e = { .track = (uint8_t)track, .number = number, .ticks = ticks,
                               .data = (const uint8_t *)bytes, .size = (uint16_t)size,
                               .at = co_now() };

    rtc_wire_relay_put(t->w, &e);
}

static void a_publisher_goes_on_where_another_was(void **state)
{
    static const enum av_codec codecs[] = { AV_H264, AV_OPUS };
    struct rtp_log_entry e, last;
    struct wired t;
    uint64_t key;

    (void)state;
    setup(&t, &plain);
    rtc_wire_wanted(t.w, true);
    push_config(t.src, AV_H264);
    (void)push_made(t.src, AV_H264, 0, 300);
    take(&t);
    assert_true(rtp_log_get(t.log, rtp_log_head(t.log) - 1, &last));
    rtc_wire_relay_begin(t.w, codecs);
    assert_false(rtp_log_key(t.log, &key));
    relay(&t, 0, 60000, 1000000, "\x41\x9a", 2);
    relay(&t, 0, 60002, 1006000, "\x41\x9a", 2);
    relay(&t, 0, 60001, 1003000, "\x41\x9a", 2);
    relay(&t, 0, 60001, 1003000, "\x41\x9b", 2); /* not again */
    relay(&t, 1, 7, 5, "\xfc\x01", 2);
    assert_int_equal(rtp_log_head(t.log), last.number + 1 + 4);
    assert_true(rtp_log_get(t.log, rtp_log_head(t.log) - 2, &e));
    assert_int_equal(e.number, last.number + 2);
    assert_true(e.late && e.data[1] == 0x9a);
    assert_in_range(e.ticks, last.ticks + 3000, last.ticks + 3000 + 90000);
    relay(&t, 0, 3, 77, "\x41\x9a", 2); /* restarts */
    assert_true(rtp_log_get(t.log, rtp_log_head(t.log) - 1, &e));
    assert_int_equal(e.number, last.number + 4);
    rtc_wire_relay_end(t.w);
    (void)push_made(t.src, AV_H264, 10, 300);
    take(&t);
    assert_true(rtp_log_get(t.log, rtp_log_head(t.log) - 1, &e));
    assert_true(e.number > last.number + 4);
    assert_int_equal(rtc_wire_codec(t.w, AV_VIDEO), AV_H264);
    finish(&t);
}

static void its_reports_are_by_our_clock(void **state)
{
    static const enum av_codec codecs[] = { AV_VP8, AV_OPUS };
    int64_t ticks[2], us[2], now;
    struct wired t;

    (void)state;
    setup(&t, &plain);
    rtc_wire_relay_begin(t.w, codecs);
    assert_int_equal(rtc_wire_codec(t.w, AV_VIDEO), AV_VP8);
    relay(&t, 0, 1, 90000, "\x10\x00", 2);
    relay(&t, 1, 1, 48000, "\xfc", 1);
    assert_true(rtc_wire_moment(t.w, AV_VIDEO, &ticks[0], &us[0]));
    assert_int_equal(ticks[0], 90000);
    assert_in_range(us[0], co_wall_ms() * 1000 - 1000000, co_wall_ms() * 1000 + 1000);
    rtc_wire_relay_moment(t.w, AV_VIDEO, 93000, 5000000);
    rtc_wire_relay_moment(t.w, AV_AUDIO, 48480, 5040000);
    now = co_wall_ms() * 1000;
    assert_true(rtc_wire_moment(t.w, AV_VIDEO, &ticks[0], &us[0]));
    assert_true(rtc_wire_moment(t.w, AV_AUDIO, &ticks[1], &us[1]));
    assert_int_equal(ticks[0], 93000);
    assert_int_equal(ticks[1], 48480);
    assert_int_equal(us[1] - us[0], 40000);
    assert_in_range(us[0], now - 1000000, now + 1000);
    finish(&t);
}

static void keys_are_found_in_payloads(void **state)
{
    static const struct {
        enum av_codec codec;
        const uint8_t *bytes;
        size_t size;
        bool key;
    } rows[] = {
        { AV_H264, MEDIA_BYTES("\x65\x88"), true },
        { AV_H264, MEDIA_BYTES("\x67\x42"), true },
        { AV_H264, MEDIA_BYTES("\x68\xce"), false },
        { AV_H264, MEDIA_BYTES("\x41\x9a"), false },
        { AV_H264, MEDIA_BYTES("\x06\x05"), false },
        { AV_H264, MEDIA_BYTES("\x78\x00\x02\x06\x05\x00\x02\x67\x42"), true },
        { AV_H264, MEDIA_BYTES("\x78\x00\x02\x06\x05\x00\x03\x67\x42"), false },
        { AV_H264, MEDIA_BYTES("\x78\x00\x00\x00\x02\x67\x42"), false },
        { AV_H264, MEDIA_BYTES("\x7c\x85\x88"), true },
        { AV_H264, MEDIA_BYTES("\x7c\x05\x88"), false },
        { AV_H264, MEDIA_BYTES("\x7c\x81\x88"), false },
        { AV_H264, MEDIA_BYTES("\x7c"), false },
        { AV_H265, MEDIA_BYTES("\x40\x01\x0c"), true },
        { AV_H265, MEDIA_BYTES("\x26\x01\xaf"), true },
        { AV_H265, MEDIA_BYTES("\x02\x01\xd0"), false },
        { AV_H265, MEDIA_BYTES("\x60\x01\x00\x03\x40\x01\x0c"), true },
        { AV_H265, MEDIA_BYTES("\x62\x01\x93\xaf"), true },
        { AV_H265, MEDIA_BYTES("\x62\x01\x13\xaf"), false },
        { AV_H265, MEDIA_BYTES("\x62\x01"), false },
        { AV_VP8, MEDIA_BYTES("\x10\x00"), true },
        { AV_VP8, MEDIA_BYTES("\x10\x01"), false },
        { AV_VP8, MEDIA_BYTES("\x11\x00"), false },
        { AV_VP8, MEDIA_BYTES("\x00\x00"), false },
        { AV_VP8, MEDIA_BYTES("\x90\x80\x81\x23\x00"), true },
        { AV_VP8, MEDIA_BYTES("\x90\xf0\x81\x23\x00\x00\x00"), true },
        { AV_VP8, MEDIA_BYTES("\x90\xf0\x81\x23\x00\x00"), false },
        { AV_VP9, MEDIA_BYTES("\x88\x01\x00"), true },
        { AV_VP9, MEDIA_BYTES("\xc8\x01\x00"), false },
        { AV_VP9, MEDIA_BYTES("\x84\x01\x00"), false },
        { AV_VP9, MEDIA_BYTES("\xa8\x81\x01\x02\x00"), false },
        { AV_AV1, MEDIA_BYTES("\x18\x0a"), true },
        { AV_AV1, MEDIA_BYTES("\x98\x0a"), false },
        { AV_AV1, MEDIA_BYTES("\x10\x32"), false },
        { AV_OPUS, MEDIA_BYTES("\xfc"), false },
        { AV_H264, (const uint8_t *)"", 0, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(rtc_key_begins(rows[i].codec, rows[i].bytes, rows[i].size), rows[i].key);
}

/* Parameter sets and frame in separate packets: players start at the first. */
static void one_start_per_frame(void **state)
{
    static const enum av_codec codecs[] = { AV_H264, AV_OPUS };
    struct wired t;
    uint64_t key;

    (void)state;
    setup(&t, &plain);
    rtc_wire_relay_begin(t.w, codecs);
    relay(&t, 0, 1, 1, "\x41\x9a", 2);
    relay(&t, 0, 2, 3001, "\x67\x42", 2);
    relay(&t, 0, 3, 3001, "\x68\xce", 2);
    relay(&t, 0, 4, 3001, "\x65\x88", 2);
    assert_true(rtp_log_key(t.log, &key));
    assert_int_equal(key, 1);
    relay(&t, 0, 5, 6001, "\x65\x88", 2);
    assert_true(rtp_log_key(t.log, &key));
    assert_int_equal(key, 4);
    assert_int_equal(rtp_log_first(t.log), 4); /* no players: no more is kept */
    finish(&t);
}

static void memory_is_counted(void **state)
{
    struct rtc_wire_opts opts = plain;
    size_t counter = 0;
    struct wired t;

    (void)state;
    opts.counter = &counter;
    setup(&t, &opts);
    rtc_wire_wanted(t.w, true);
    push_config(t.src, AV_H264);
    (void)push_made(t.src, AV_H264, 0, 50000);
    take(&t);
    assert_true(counter > 50000);
    finish(&t);
    assert_int_equal(counter, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_was_packed_is_what_comes_out),
        TEST(sets_go_in_front_and_pieces_are_even),
        TEST(options_count),
        TEST(frames_come_in_display_order),
        TEST(times_that_go_back_are_put_right),
        TEST(nothing_is_split_without_players),
        TEST(the_next_publisher_goes_on_in_numbers_and_times),
        TEST(who_serves_is_told_once),
        TEST(both_tracks_have_one_clock),
        TEST(a_publisher_goes_on_where_another_was),
        TEST(its_reports_are_by_our_clock),
        TEST(keys_are_found_in_payloads),
        TEST(one_start_per_frame),
        TEST(memory_is_counted),
    };

    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
