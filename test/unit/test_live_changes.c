/* SPDX-License-Identifier: MIT */
/* test_live_changes.c - how often a publisher may change its decoder configuration. */
#include "live/changes.h"
#include "live/source.h"
#include "unit.h"

#include <string.h>

enum { MOST = 10 };

static struct av_packet *make(enum av_kind kind, enum av_codec codec, unsigned track, bool config,
                              uint8_t byte)
{
    struct av_packet *pkt = av_packet_new(8);

    memset(pkt->data, byte, pkt->size);
    pkt->kind = (uint8_t)kind;
    pkt->codec = (uint8_t)codec;
    pkt->track = (uint16_t)track;
    pkt->config = config;
    return pkt;
}

/* Two packets in turn, of which the second is configured differently. */
struct flip {
    enum av_codec codec[2];
    uint8_t byte[2];
    bool config;
    bool change;
};

static bool exceeds(struct live_changes *c, const struct flip *f, int turns, co_usec each)
{
    const struct av_packet *before = NULL;
    bool over = false;

    for (int i = 0; i < turns && !over; i++) {
        enum av_kind kind = av_codec_row(f->codec[i % 2])->kind;
        struct av_packet *pkt = make(kind, f->codec[i % 2], 0, f->config, f->byte[i % 2]);

        over = live_changes_exceed(c, pkt, f->config ? before : NULL, MOST, CO_SECONDS(9) + i * each);
        (void)av_packet_unref(before);
        before = pkt;
    }
    (void)av_packet_unref(before);
    return over;
}

static void test_what_is_a_change(void **state)
{
    static const struct flip rows[] = {
        { { AV_H264, AV_H264 }, { 1, 2 }, true, true },
        { { AV_H264, AV_H264 }, { 1, 1 }, true, false },
        { { AV_H264, AV_H265 }, { 1, 2 }, true, true },
        { { AV_H264, AV_H265 }, { 1, 1 }, false, true },
        { { AV_AAC, AV_MP3 }, { 1, 1 }, false, true },
        { { AV_AAC, AV_AAC }, { 1, 2 }, false, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct live_changes c = { 0 };

        if (exceeds(&c, &rows[i], MOST + 1, 0))
            fail_msg("row %zu: %d changes are allowed", i, MOST);
        c = (struct live_changes){ 0 };
        if (exceeds(&c, &rows[i], MOST + 2, 0) != rows[i].change || c.over != rows[i].change)
            fail_msg("row %zu: %d changes", i, MOST + 1);
        c = (struct live_changes){ 0 };
        assert_false(exceeds(&c, &rows[i], 1000, CO_SECONDS(1)));
        assert_int_equal(exceeds(&c, &rows[i], 1000, CO_MS(800)), rows[i].change);
    }
}

/* Parallel tracks are not a change, even with different codecs. */
static void test_tracks_are_apart(void **state)
{
    struct live_changes c = { 0 };

    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct av_packet *pkt = make(AV_VIDEO, i % 2 ? AV_H264 : AV_H265, i % 2, false, 1);

        assert_false(live_changes_exceed(&c, pkt, NULL, MOST, 0));
        (void)av_packet_unref(pkt);
    }
}

static void test_no_limit(void **state)
{
    struct live_changes c = { 0 };

    (void)state;
    for (int i = 0; i < 1000; i++) {
        struct av_packet *pkt = make(AV_VIDEO, i % 2 ? AV_H264 : AV_H265, 0, false, 1);

        assert_false(live_changes_exceed(&c, pkt, NULL, 0, 0));
        (void)av_packet_unref(pkt);
    }
}

/* A publisher that exceeds it is disconnected with the reason, and excess packets are dropped. */
static err_t publish(void *arg)
{
    struct live_settings set = { .max_bytes = 1 << 20, .config_changes = MOST };
    struct live_source *src = live_source_new("vhost/app/s", &set);
    struct live_publisher p = { .co = co_self(), .ip = "127.0.0.1" };
    struct live_takeover rule = { .mode = LIVE_TAKEOVER_STALE };
    struct live_source_stat stat;

    (void)arg;
    assert_ok(live_source_begin(src, &p, &rule));
    for (int i = 0; i < 1000; i++) {
        struct av_packet *pkt = make(AV_VIDEO, AV_H264, 0, true, (uint8_t)i);

        live_source_push(src, pkt, i);
        (void)av_packet_unref(pkt);
    }
    live_source_stat(src, &stat);
    assert_int_equal(stat.video_packets, MOST + 1);
    assert_err(co_check(), ERR_TOO_MANY);
    live_source_end(src, &p);
    (void)live_source_unref(src);
    return NULL;
}

static void test_publisher_ends(void **state)
{
    struct co_group g;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "publisher", publish, NULL));
    assert_ok(co_group_wait(&g));
    assert_int_equal(live_source_live(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_a_change),
        TEST(test_tracks_are_apart),
        TEST(test_no_limit),
        TEST(test_publisher_ends),
    };
    err_t err = co_init();

    assert_null(err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
