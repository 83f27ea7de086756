/* SPDX-License-Identifier: MIT */
/* test_wire_rtp.c - a stream as RTP: each codec, audio and video, frames that cannot be sent. */
#include "rtp_player.h"

static uint8_t frame_buf[MEDIA_FRAME_MAX];

/* ---- a player, and what it receives */

static unsigned reports_of(const struct ear *e, unsigned track)
{
    unsigned n = 0;

    for (unsigned i = 0; i < e->n; i++)
        n += e->v[i].track == track && e->v[i].report && !e->v[i].bye;
    return n;
}

/* ---- each codec: frames go in, the same frames come out */

static const struct {
    enum av_codec codec;
    size_t size; /* approximate size of a frame */
    const char *fmtp;
    uint8_t type;
} rows[] = {
    { AV_H264, 6000, "packetization-mode=1", 96 }, { AV_H265, 6000, "", 98 },
    { AV_AV1, 6000, "", 99 }, { AV_VP9, 6000, "", 100 }, { AV_AAC, 300, "config=1190", 97 },
    { AV_MP3, 0, "", 14 }, { AV_OPUS, 200, "sprop-stereo=1", 101 }, { AV_G711A, 160, "", 8 },
    { AV_G711U, 160, "", 0 },
};

static size_t size_of(size_t row, unsigned i)
{
    return rows[row].size == 160 ? 160 : 1 + rows[row].size * (i * 37 % 100 + 5) / 100;
}

static void unpack_all(size_t row, const struct ear *e)
{
    struct rtp_unpacker_opts opts = { .fmt = rtp_format_of(rows[row].codec), .channels = 1,
                                      .fmtp = { rows[row].fmtp, strlen(rows[row].fmtp) } };
    bool video = av_codec_row(rows[row].codec)->kind == AV_VIDEO;
    uint32_t base = rtp_wire_base(SEED, video ? 0 : 1);
    struct rtp_unpacker u;
    struct rtp_frame f;
    unsigned got = 0;

    opts.clock = rows[row].codec == AV_AAC ? 48000 : 0;
    assert_ok(rtp_unpacker_init(&u, &opts));
    for (unsigned i = 0; i < e->n; i++) {
        const struct rtp_packet *p = &e->v[i].rtp;
        struct rtp_payload in = { .data = p->payload, .size = p->payload_size,
                                  .ticks = (int32_t)(p->time - base), .marker = p->marker };

        if (e->v[i].report)
            continue;
        assert_int_equal(p->type, rows[row].type);
        rtp_unpack_put(&u, &in);
        while (rtp_unpack_next(&u, &f)) {
            struct frame want = media_make(rows[row].codec, got, size_of(row, got), frame_buf);

            if (f.config)
                continue;
            assert_int_equal(f.size, want.size);
            assert_memory_equal(f.data, want.data, f.size);
            assert_int_equal(f.key, want.key);
            assert_int_equal(f.ticks, video ? want.pts : want.pts * u.clock / 90000);
            got++;
        }
    }
    assert_int_equal(got, FRAMES);
    rtp_unpacker_fini(&u);
}

/* All fragments of a frame except the last have equal size: the kernel splits it so. */
static void check_sizes(const struct ear *e, uint32_t mtu, bool one_unit)
{
    size_t first = 0;

    for (unsigned i = 0; i < e->n; i++) {
        const struct item *it = &e->v[i], *next = i + 1 < e->n ? it + 1 : NULL;
        bool last = !next || next->report || next->rtp.time != it->rtp.time;

        if (it->report) {
            first = 0;
            continue;
        }
        assert_in_range(it->rtp.payload_size, 1, mtu);
        if (first == 0)
            first = it->rtp.payload_size;
        if (one_unit && !last)
            assert_int_equal(it->rtp.payload_size, first);
        if (last)
            first = 0;
    }
}

static void test_codecs(void **state)
{
    static const uint32_t mtus[] = { 300, 1400, 9000, 64000 };

    (void)state;
    for (size_t row = 0; row < COUNT(rows) * COUNT(mtus); row++) {
        size_t r = row % COUNT(rows);
        uint32_t mtu = mtus[row / COUNT(rows)];
        struct live_source *src = source_new();
        struct ear e;

        ear_open(&e, src, BOTH, mtu);
        push_config(src, rows[r].codec);
        for (unsigned i = 0; i < FRAMES; i++) {
            struct frame f = media_make(rows[r].codec, i, size_of(r, i), frame_buf);

            push(src, &f);
        }
        ear_take(&e);
        assert_true(e.v[0].report);
        ear_check(&e);
        check_sizes(&e, mtu, rows[r].codec == AV_VP9);
        unpack_all(r, &e);
        ear_close(&e);
        live_end(src);
    }
}

/* ---- audio and video together */

static void test_reports(void **state)
{
    struct live_source *src = source_new();
    struct ear e;
    unsigned pairs = 0;

    (void)state;
    push_configs(src);
    ear_open(&e, src, BOTH, 1400);
    push_av(src, 0, 100, 25, 160);
    ear_take(&e);
    ear_check(&e);
    for (unsigned i = 0; i + 2 < e.n; i++) {
        const struct item *a = &e.v[i], *b = a + 1, *first = a + 2;
        int64_t moment = pairs * AV_MS(1000);

        if (!a->report || a->track != 0)
            continue;
        assert_true(b->report && b->track == 1);
        assert_true(!first->report && first->track == 0);
        assert_true(a->sr.ntp == b->sr.ntp);
        assert_int_equal(a->sr.time, rtp_wire_base(SEED, 0) + (uint32_t)moment);
        assert_int_equal(b->sr.time, rtp_wire_base(SEED, 1) + (uint32_t)(moment * 8 / 15));
        assert_int_equal(first->rtp.time, a->sr.time);
        pairs++;
    }
    assert_int_equal(pairs, 4);
    assert_int_equal(reports_of(&e, 0) + reports_of(&e, 1), 8);
    ear_close(&e);
    live_end(src);
}

/* This often, if no key frame comes. */
static void test_reports_go_on(void **state)
{
    struct live_source *src = source_new();
    struct ear e;
    uint32_t last = rtp_wire_base(SEED, 0);

    (void)state;
    push_configs(src);
    ear_open(&e, src, BOTH, 1400);
    push_av(src, 0, 550, 1000, 160);
    ear_take(&e);
    ear_check(&e);
    assert_int_equal(reports_of(&e, 0), 5);
    for (unsigned i = 0; i < e.n; i++) {
        if (!e.v[i].report || e.v[i].track != 0)
            continue;
        assert_in_range(e.v[i].sr.time - last, 0, AV_MS(5100));
        last = e.v[i].sr.time;
    }
    ear_close(&e);
    live_end(src);
}

/* On a wire without video, players still join at a video frame. */
static void test_unwanted_tracks(void **state)
{
    (void)state;
    for (unsigned only = 0; only < 2; only++) {
        struct live_source *src = source_new();
        struct rtp_wire_start start[RTP_WIRE_N];
        struct ear e;

        push_configs(src);
        push_av(src, 0, 60, 25, 160);
        ear_open(&e, src, 1u << only, 1400);
        rtp_wire_start(&e.c, 3, start);
        ear_take(&e);
        ear_check(&e);
        assert_true(e.v[0].report && e.v[0].track == only);
        assert_true(packets_of(&e, only) > 0);
        assert_int_equal(packets_of(&e, 1 - only) + reports_of(&e, 1 - only), 0);
        assert_true(start[only].has_time && start[only].has_seq && !start[1 - only].has_time);
        assert_int_equal(start[only].seq, nth_packet(&e, only, 0)->rtp.seq);
        ear_close(&e);
        live_end(src);
    }
}

/* Audio that begins later is reported before it is sent; so is a changed clock. */
static void test_late_audio(void **state)
{
    struct frame other = media_config(AV_AAC, MEDIA_BYTES("\x12\x10")); /* 44.1 kHz */
    struct live_source *src = source_new();
    struct ear e;

    (void)state;
    push_config(src, AV_H264);
    ear_open(&e, src, BOTH, 1400);
    for (unsigned i = 0; i < 50; i++)
        push_at(src, AV_H264, i == 0, i * 40, 160);
    ear_take(&e);
    assert_int_equal(reports_of(&e, 1), 0);
    push_config(src, AV_AAC);
    push_at(src, AV_AAC, false, 2000, 160);
    ear_take(&e);
    assert_int_equal(reports_of(&e, 1), 1);
    push(src, &other);
    push_at(src, AV_AAC, false, 2020, 160);
    ear_take(&e);
    assert_int_equal(reports_of(&e, 1), 2);
    assert_int_equal(byes_of(&e), 2); /* it differs from the description */
    assert_int_equal(nth_packet(&e, 1, 1)->rtp.time,
                     rtp_wire_base(SEED, 1) + (uint32_t)(AV_MS(2020) * 441 / 900));
    ear_check(&e);
    ear_close(&e);
    live_end(src);
}

/* Frames in another display order than decoding order. */
static void test_reordered_frames(void **state)
{
    static const int cts[] = { 80, 160, 40, 0, 40 };
    struct live_source *src = source_new();
    struct ear e;

    (void)state;
    push_config(src, AV_H264);
    ear_open(&e, src, BOTH, 1400);
    for (unsigned i = 0; i < COUNT(cts); i++) {
        struct frame f = media_make(AV_H264, i == 0 ? 0 : 1, 160, frame_buf);

        f.dts = i * AV_MS(40);
        f.pts = f.dts + AV_MS(cts[i]);
        push(src, &f);
    }
    ear_take(&e);
    assert_int_equal(e.v[0].sr.time, rtp_wire_base(SEED, 0) + (uint32_t)AV_MS(cts[0]));
    for (unsigned i = 0, packet = 0; i < COUNT(cts); i++) {
        const struct item *it;

        do {
            it = nth_packet(&e, 0, packet++);
            assert_int_equal(it->rtp.time,
                             rtp_wire_base(SEED, 0) + (uint32_t)AV_MS((int)i * 40 + cts[i]));
        } while (!it->rtp.marker);
    }
    ear_close(&e);
    live_end(src);
}

/* ---- frames that cannot be sent */

static void test_broken_frames(void **state)
{
    struct frame broken = media_frame(AV_H264, false, AV_MS(40), MEDIA_BYTES("\x00\x00\x00\x09\x41"));
    struct frame huge = media_make(AV_AAC, 1, 9000, frame_buf);
    struct live_source *src = source_new();
    struct ear e;
    unsigned before;

    (void)state;
    push_configs(src);
    ear_open(&e, src, BOTH, 1400);
    push_at(src, AV_H264, true, 0, 160);
    ear_take(&e);
    before = packets_of(&e, 0);
    push(src, &broken);
    huge.dts = huge.pts = AV_MS(50);
    push(src, &huge);
    ear_take(&e);
    assert_int_equal(packets_of(&e, 0), before);
    assert_int_equal(packets_of(&e, 1), 0);
    push_at(src, AV_H264, true, 80, 160);
    push_at(src, AV_AAC, false, 80, 160);
    ear_take(&e);
    ear_check(&e);
    assert_true(packets_of(&e, 0) > before);
    assert_int_equal(packets_of(&e, 1), 1);
    ear_close(&e);
    live_end(src);
}

/* Frames before their configuration, codecs without an RTP format, additional tracks. */
static void test_others(void **state)
{
    struct live_source *src = source_new();
    struct frame f;
    struct ear e;

    (void)state;
    ear_open(&e, src, BOTH, 1400);
    push_at(src, AV_AAC, false, 0, 160);
    push_at(src, AV_SPEEX, false, 10, 160);
    ear_take(&e);
    assert_int_equal(packets_of(&e, 1), 0);
    push_config(src, AV_AAC);
    push_at(src, AV_AAC, false, 20, 160);
    f = media_make(AV_AAC, 1, 100, frame_buf);
    f.track = 1;
    f.dts = AV_MS(30);
    push(src, &f);
    ear_take(&e);
    assert_int_equal(packets_of(&e, 1), 1);
    ear_close(&e);
    live_end(src);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_codecs), TEST(test_reports), TEST(test_reports_go_on),
        TEST(test_unwanted_tracks), TEST(test_late_audio), TEST(test_reordered_frames),
        TEST(test_broken_frames), TEST(test_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
