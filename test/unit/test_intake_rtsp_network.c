/* SPDX-License-Identifier: MIT */
/* test_intake_rtsp_network.c - reports of cameras, lip sync, and networks that lose and reorder. */
#include "rtsp_camera.h"

/* ---- a camera */

static uint32_t dice(struct camera *c)
{
    c->random = c->random * 1664525 + 1013904223;
    return c->random >> 16;
}

/* ---- reports */

static size_t sender_report(uint8_t *out, size_t room, uint32_t ssrc, int64_t us, uint32_t time,
                            bool bye)
{
    struct wr w = { .buf = out, .cap = room, .limit = room };
    struct rtcp_sr sr = { .ntp = rtcp_ntp(us), .time = time, .packets = 5, .bytes = 500 };

    rtcp_put_sr(&w, ssrc, &sr);
    rtcp_put_cname(&w, ssrc, "camera");
    if (bye)
        rtcp_put_bye(&w, ssrc);
    assert_false(w.bad);
    return w.len;
}

static int64_t first_pts(enum av_kind kind)
{
    for (unsigned i = 0; i < intake.n; i++) {
        if (intake.v[i].kind == kind && !intake.v[i].config)
            return intake.v[i].pts;
    }
    fail_msg("no frame of kind %d", (int)kind);
    return -1;
}

/* Audio that comes 400 ms late is put where its reports say; on its own channel or that of the
 * media. */
static void test_lip_sync(void **state)
{
    int64_t unix_us = INT64_C(1790000000) * 1000000;

    (void)state;
    for (unsigned how = 0; how < 2; how++) {
        struct camera v, a;
        uint8_t sr[200];
        size_t n;

        intake_begin(SDP_HEAD SDP_H264("") SDP_AAC, &intake_plain, false);
        camera_new(&v, VIDEO, AV_H264);
        camera_new(&a, AUDIO, AV_AAC);
        camera_start(&v);
        camera_start(&a);
        n = sender_report(sr, sizeof(sr), v.ssrc, unix_us, v.base, false);
        assert_false(rtsp_intake_put(intake.r, VIDEO, how == 0, sr, n, intake.now));
        n = sender_report(sr, sizeof(sr), a.ssrc, unix_us, a.base, false);
        assert_false(rtsp_intake_put(intake.r, AUDIO, how == 0, sr, n, intake.now));
        camera_film(&v, 0, 12);
        camera_film(&a, 0, 3);
        assert_int_equal(first_pts(AV_VIDEO), first_pts(AV_AUDIO));
        camera_free(&v);
        camera_free(&a);
        intake_end();
    }
}

/* Without reports a track begins when its first frame arrived; that a later one is needed to know it is
 * complete does not delay it. */
static void test_guess(void **state)
{
    (void)state;
    for (int marks = MARK_LAST; marks <= MARK_ALWAYS; marks++) {
        struct camera v, a;
        co_usec sound_at;

        intake_begin(SDP_HEAD SDP_H264("") SDP_AAC, &intake_plain, false);
        camera_new(&v, VIDEO, AV_H264);
        camera_new(&a, AUDIO, AV_AAC);
        v.marks = (enum marks)marks;
        camera_start(&v);
        camera_start(&a);
        sound_at = intake.now;
        camera_film(&a, 0, 1);
        intake.now = sound_at + CO_MS(15);
        camera_film(&v, 0, 12);
        assert_int_equal(first_pts(AV_VIDEO) - first_pts(AV_AUDIO), AV_MS(15));
        camera_free(&v);
        camera_free(&a);
        intake_end();
    }
}

static void test_reports(void **state)
{
    struct camera v, a;
    uint8_t out[RTSP_INTAKE_REPORT], sr[200];
    unsigned media;
    struct rtcp_reader reader;
    struct rtcp_packet p;
    struct rtcp_block b;
    size_t n;

    (void)state;
    intake_begin(SDP_HEAD SDP_H264("") SDP_AAC, &intake_plain, true);
    camera_new(&v, VIDEO, AV_H264);
    camera_new(&a, AUDIO, AV_AAC);
    camera_start(&v);
    camera_start(&a);
    assert_int_equal(rtsp_intake_due(intake.r), NOW0 + CO_SECONDS(5));
    camera_film(&v, 0, 10);
    n = sender_report(sr, sizeof(sr), v.ssrc, INT64_C(1790000000000000), v.base, false);
    assert_false(rtsp_intake_put(intake.r, VIDEO, true, sr, n, intake.now));
    assert_false(rtsp_intake_report(intake.r, intake.now, &media, out, &n));
    v.seq += 3; /* are lost */
    camera_film(&v, 10, 5);
    intake.now = NOW0 + CO_SECONDS(5);
    assert_true(rtsp_intake_report(intake.r, intake.now, &media, out, &n));
    assert_int_equal(media, VIDEO);
    rtcp_begin(&reader, out, n);
    assert_true(rtcp_next(&reader, &p));
    assert_int_equal(p.type, RTCP_RR);
    assert_true(rtcp_next_block(&p, &b));
    assert_int_equal(b.ssrc, v.ssrc);
    assert_int_equal(b.lost, 3);
    assert_true(b.last_sr != 0);
    assert_true(rtcp_next(&reader, &p));
    assert_int_equal(p.type, RTCP_SDES);
    assert_false(rtcp_next(&reader, &p));
    /* no audio arrived */
    assert_false(rtsp_intake_report(intake.r, intake.now, &media, out, &n));
    camera_film(&a, 0, 2);
    assert_false(rtsp_intake_report(intake.r, intake.now, &media, out, &n));
    intake.now += CO_SECONDS(6);
    assert_true(rtsp_intake_report(intake.r, intake.now, &media, out, &n) && media == VIDEO);
    assert_true(rtsp_intake_report(intake.r, intake.now, &media, out, &n) && media == AUDIO);
    assert_false(rtsp_intake_report(intake.r, intake.now, &media, out, &n));
    /* the end, of one after the other */
    n = sender_report(sr, sizeof(sr), v.ssrc, INT64_C(1790000000000000), v.base, true);
    (void)rtsp_intake_put(intake.r, VIDEO, true, sr, n, intake.now);
    assert_false(rtsp_intake_over(intake.r));
    n = sender_report(sr, sizeof(sr), a.ssrc + 1, INT64_C(1790000000000000), v.base, true);
    (void)rtsp_intake_put(intake.r, AUDIO, true, sr, n, intake.now); /* another's */
    assert_false(rtsp_intake_over(intake.r));
    n = sender_report(sr, sizeof(sr), a.ssrc, INT64_C(1790000000000000), v.base, true);
    (void)rtsp_intake_put(intake.r, AUDIO, true, sr, n, intake.now);
    assert_true(rtsp_intake_over(intake.r));
    camera_film(&a, 2, 1);
    assert_false(rtsp_intake_over(intake.r));
    camera_free(&v);
    camera_free(&a);
    intake_end();
}

/* ---- networks */

/* Lost, duplicated, or later than the next one or two. */
static bool bad_net(struct camera *c, const uint8_t *data, size_t size)
{
    uint32_t d = dice(c) % 100;
    unsigned slot = d & 1;

    if (d < 3)
        return false;
    if (d < 6)
        camera_deliver(c, data, size);
    if (d >= 6 && d < 20 && c->late_size[slot] == 0) {
        assert_true(size <= sizeof(camera_late[0]));
        memcpy(camera_late[slot], data, size);
        c->late_size[slot] = size;
        return false;
    }
    camera_deliver(c, data, size);
    for (slot = 0; slot < 2; slot++) {
        if (c->late_size[slot] > 0 && dice(c) % 2) {
            camera_deliver(c, camera_late[slot], c->late_size[slot]);
            c->late_size[slot] = 0;
        }
    }
    return false;
}

/* Only reordered and duplicated: nothing is missing at the end. */
static bool shuffling_net(struct camera *c, const uint8_t *data, size_t size)
{
    if (c->random % 7 == 0)
        camera_deliver(c, data, size);
    (void)dice(c);
    if (c->late_size[0] == 0 && c->sent > 1 && dice(c) % 4 == 0) {
        memcpy(camera_late[0], data, size);
        c->late_size[0] = size;
        return false;
    }
    camera_deliver(c, data, size);
    if (c->late_size[0] > 0) {
        camera_deliver(c, camera_late[0], c->late_size[0]);
        c->late_size[0] = 0;
    }
    return false;
}

static void test_networks(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < 200; seed++) {
        bool bad = seed % 2;
        struct camera c;
        unsigned n;
        bool key_due = false, first = true;
        unsigned at = 0;

        intake_begin(SDP_HEAD SDP_H264(""), &intake_plain, true);
        camera_new(&c, VIDEO, AV_H264);
        c.random = seed * 7919 + 1;
        c.net = bad ? bad_net : shuffling_net;
        camera_start(&c);
        camera_film(&c, 0, FRAMES);
        intake.now += CO_SECONDS(1);
        rtsp_intake_tick(intake.r, intake.now);
        intake_take();
        n = check_frames(&c, AV_VIDEO, bad);
        assert_in_range(n, bad ? 1 : FRAMES - 1, FRAMES);
        for (unsigned i = 0; i < intake.n; i++) { /* after a gap there is a key frame */
            if (intake.v[i].kind != AV_VIDEO || intake.v[i].config)
                continue;
            key_due = first || c.hashes[at] != intake.v[i].hash;
            while (c.hashes[at] != intake.v[i].hash)
                at++;
            at++;
            assert_true(!key_due || intake.v[i].key);
            first = false;
        }
        check_order(AV_VIDEO);
        if (!bad)
            assert_int_equal(intake_stat().lost, 0);
        camera_free(&c);
        intake_end();
    }
}

/* Early packets wait for missing ones, but not forever. */
static void test_waits(void **state)
{
    struct camera c;
    unsigned before;

    (void)state;
    intake_begin(SDP_HEAD SDP_H264(""), &intake_plain, true);
    camera_new(&c, VIDEO, AV_H264);
    camera_start(&c);
    camera_film(&c, 0, 10);
    before = seen_frames(AV_VIDEO);
    c.seq++;
    camera_film(&c, 10, 2); /* begins with a key frame */
    assert_int_equal(seen_frames(AV_VIDEO), before);
    assert_true(rtsp_intake_due(intake.r) < NOW0 + CO_SECONDS(1));
    intake.now = rtsp_intake_due(intake.r);
    rtsp_intake_tick(intake.r, intake.now);
    intake_take();
    assert_true(seen_frames(AV_VIDEO) > before);
    assert_int_equal(rtsp_intake_due(intake.r), NOW0 + CO_SECONDS(5));
    assert_int_equal(intake_stat().lost, 1);
    assert_true(intake_stat().reordered > 0);
    camera_free(&c);
    intake_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lip_sync), TEST(test_guess), TEST(test_reports), TEST(test_networks),
        TEST(test_waits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
