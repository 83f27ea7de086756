/* SPDX-License-Identifier: MIT */
/* test_intake_rtp.c - RTP tracks received over a network that loses packets: how long a gap is waited
 * for, and when a key frame is requested. (Their output: test_intake_rtsp.)
 */
#include "intake/rtp.h"
#include "live/impl.h"
#include "proto/rtp/header.h"
#include "unit.h"

#include <string.h>

enum { TYPE = 96, EACH = 3000 };

#define WAIT CO_MS(400)
#define SETS "\x18\x00\x0e\x67\x42\xc0\x1f\x8c\x8d\x40\x50\x1e\xd0\x0f\x08\x84\x6a\x00\x04\x68" \
             "\xce\x3c\x80"

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_OFF, .queue_length = CO_SECONDS(3000),
    .max_bytes = 1 << 20,
};

static struct {
    struct rtp_intake *r;
    struct live_source *src;
    unsigned track;
    co_usec now;
} it;

static void begin(void)
{
    const struct rtp_intake_opts opts = { .signature = "us" };
    const struct rtp_receiver_opts rx = { .type = TYPE, .window = 1024, .wait = WAIT };
    const struct rtp_intake_medium m = { .fmt = rtp_format_of(AV_H264), .clock = 90000,
                                         .fmtp = { "packetization-mode=1", 20 } };

    it.now = CO_SECONDS(100);
    it.src = live_source_new("v/a/s", &settings);
    it.r = rtp_intake_new(&opts);
    assert_ok(rtp_intake_add(it.r, &m, &it.track));
    rtp_intake_open(it.r, it.track, &rx);
    rtp_intake_begin(it.r, it.src);
    assert_false(rtp_intake_wants_key(it.r)); /* nothing came yet */
}

static void end(void)
{
    rtp_intake_free(it.r);
    (void)live_source_unref(it.src);
    assert_int_equal(live_source_live(), 0);
}

static void put(int seq, int picture, bool marker, const char *payload, size_t size)
{
    uint8_t packet[256];

    rtp_build(packet, marker, TYPE, (uint16_t)seq, (uint32_t)(picture * EACH), 7);
    memcpy(packet + RTP_HEADER, payload, size);
    (void)rtp_intake_put(it.r, it.track, packet, RTP_HEADER + size, it.now);
}

/* A frame of packets with one number each: parameter sets and a frame in two pieces, or a slice. */
static void put_sets(int seq, int picture)
{
    put(seq, picture, false, SETS, sizeof(SETS) - 1);
    rtp_intake_key(it.r, it.track);
}

static void put_key(int seq, int picture)
{
    put_sets(seq, picture);
    put(seq + 1, picture, false, "\x7c\x85\x88\x84\x21", 5);
    put(seq + 2, picture, true, "\x7c\x45\x11\x12\x13", 5);
}

static void put_slice(int seq, int picture)
{
    put(seq, picture, true, "\x41\x9a\x22\x33", 4);
}

static struct rtp_intake_stat stat_of(void)
{
    struct rtp_intake_stat s;

    rtp_intake_stat(it.r, &s);
    return s;
}

static void test_lost(void **state)
{
    (void)state;
    begin();
    put_key(0, 0);
    put_slice(3, 1);
    put_slice(4, 2);
    assert_false(rtp_intake_wants_key(it.r));
    assert_int_equal(rtp_intake_due(it.r), CO_FOREVER);
    put_slice(6, 4); /* 5 is lost */
    assert_int_equal(stat_of().frames, 3);
    assert_int_equal(rtp_intake_due(it.r), it.now + WAIT);
    it.now += WAIT - 1;
    rtp_intake_tick(it.r, it.now);
    assert_false(rtp_intake_wants_key(it.r));
    it.now += 1;
    rtp_intake_tick(it.r, it.now);
    assert_true(rtp_intake_wants_key(it.r));
    put_slice(7, 5);
    put_key(8, 6);
    put_slice(11, 7);
    assert_false(rtp_intake_wants_key(it.r));
    assert_int_equal(stat_of().lost, 1);
    assert_int_equal(stat_of().frames, 5); /* from the key frame on */
    end();
}

static void test_found_late(void **state)
{
    (void)state;
    begin();
    put_key(0, 0);
    put_slice(3, 1);
    put_slice(5, 3);
    it.now += WAIT / 2;
    put_slice(4, 2);
    assert_int_equal(stat_of().frames, 4);
    assert_int_equal(stat_of().broken, 0);
    assert_int_equal(rtp_intake_due(it.r), CO_FOREVER);
    end();
}

/* A complete key frame makes missing packets before it irrelevant. */
static void test_key_behind_a_hole(void **state)
{
    (void)state;
    begin();
    put_key(0, 0);
    put_slice(3, 1);
    put_slice(4, 2);
    put_slice(6, 4);
    put_key(7, 5); /* its last packet shows that it is complete */
    assert_int_equal(rtp_intake_due(it.r), it.now + WAIT / 4);
    put_slice(10, 6);
    it.now += WAIT / 4;
    rtp_intake_tick(it.r, it.now);
    assert_int_equal(rtp_intake_due(it.r), CO_FOREVER);
    assert_int_equal(stat_of().frames, 5);
    assert_false(rtp_intake_wants_key(it.r));
    end();
}

/* Its first packet is late: the second one must not be taken for it. */
static void test_late_beginning_of_a_key(void **state)
{
    (void)state;
    begin();
    put_key(0, 0);
    put_slice(3, 1);
    put_slice(4, 2);
    put(6, 3, false, "\x7c\x85\x88\x84\x21", 5);
    rtp_intake_key(it.r, it.track);
    put(7, 3, true, "\x7c\x45\x11\x12\x13", 5);
    put_slice(8, 4);
    it.now += WAIT / 2;
    rtp_intake_tick(it.r, it.now);
    assert_int_equal(stat_of().frames, 3);
    put_sets(5, 3);
    put_slice(9, 5);
    assert_int_equal(stat_of().frames, 6);
    assert_int_equal(stat_of().waiting, 0);
    end();
}

/* The server waits for an incomplete one as for all others. */
static void test_broken_key_behind_a_hole(void **state)
{
    (void)state;
    begin();
    put_key(0, 0);
    put_slice(3, 1);
    put_slice(4, 2);
    put_sets(6, 4); /* 5 is missing, and 7 */
    put(8, 4, true, "\x7c\x45\x11\x12\x13", 5);
    put_slice(9, 5);
    assert_int_not_equal(rtp_intake_due(it.r), CO_FOREVER);
    assert_int_equal(stat_of().frames, 3);
    put(7, 4, false, "\x7c\x85\x88\x84\x21", 5); /* now it is */
    it.now += WAIT / 4;
    rtp_intake_tick(it.r, it.now);
    assert_int_equal(rtp_intake_due(it.r), CO_FOREVER);
    assert_int_equal(stat_of().frames, 5);
    end();
}

static void test_waits_longer(void **state)
{
    (void)state;
    begin();
    put_key(0, 0);
    put_slice(4, 2);
    rtp_intake_wait(it.r, it.track, 2 * WAIT);
    assert_int_equal(rtp_intake_due(it.r), it.now + 2 * WAIT);
    end();
}

/* The maximum of a window, and more. */
static void test_window(void **state)
{
    (void)state;
    begin();
    put_key(0, 0);
    put_slice(3, 1);
    put_slice(4, 2);
    for (int i = 0; i < 1023; i++)
        put_slice(6 + i, 4 + i);
    assert_int_equal(stat_of().reordered, 1023);
    assert_false(rtp_intake_wants_key(it.r));
    put_slice(5, 3);
    assert_int_equal(stat_of().frames, 1027);
    for (int i = 0; i < 1025; i++)
        put_slice(1100 + i, 1100 + i);
    assert_true(rtp_intake_wants_key(it.r));
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lost), TEST(test_found_late), TEST(test_key_behind_a_hole),
        TEST(test_broken_key_behind_a_hole), TEST(test_late_beginning_of_a_key),
        TEST(test_waits_longer), TEST(test_window),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
