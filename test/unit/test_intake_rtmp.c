/* SPDX-License-Identifier: MIT */
/* test_intake_rtmp.c - from messages to packets: changed and unchanged parts. */
#include "base/log.h"
#include "co/co.h"
#include "intake/rtmp.h"
#include "live/impl.h"
#include "proto/rtmp/amf0.h"
#include "proto/rtmp/chunk_out.h"
#include "unit.h"
#include "wire/rtmp.h"

#include <stdlib.h>
#include <string.h>

static const struct live_settings settings = {
    .gop_cache = true, .jitter = LIVE_JITTER_OFF, .queue_length = CO_SECONDS(30),
    .max_bytes = 64 << 20,
};

#define META_HEAD "\x02\x00\x0aonMetaData\x08\x00\x00\x00\x01\x00\x05width\x00\x40\x94\x00\x00\x00\x00\x00\x00"
#define META_END "\x00\x00\x09"
#define SERVER "\x00\x06server\x02\x00\x05us/1."

#define BYTES(s) s, sizeof(s) - 1

static const struct {
    const char *name;
    uint8_t type;
    const char *in;
    size_t in_size;
    const char *want; /* NULL: no output */
    size_t want_size;
    uint8_t want_tag;
    bool config, key;
} rows[] = {
    { "video unchanged", 9, BYTES("\x17\x01\x00\x00\x00xyz"), BYTES("\x17\x01\x00\x00\x00xyz"), 9,
      false, true },
    { "audio unchanged", 8, BYTES("\xaf\x01xyz"), BYTES("\xaf\x01xyz"), 8, false, false },
    { "unknown codec unchanged", 9, BYTES("\x2fxyz"), BYTES("\x2fxyz"), 9, false, false },
    { "a data message unchanged", 18, BYTES("\x02\x00\x03" "abc\x05"), BYTES("\x02\x00\x03" "abc\x05"),
      18, false, false },
    { "metadata gets our name", 18, BYTES(META_HEAD META_END),
      BYTES("\x02\x00\x0aonMetaData\x08\x00\x00\x00\x02\x00\x05width\x00\x40\x94\x00\x00\x00\x00\x00\x00"
            SERVER META_END), 18, true, false },
    { "@setDataFrame goes", 18, BYTES("\x02\x00\x0d@setDataFrame" META_HEAD META_END),
      BYTES("\x02\x00\x0aonMetaData\x08\x00\x00\x00\x02\x00\x05width\x00\x40\x94\x00\x00\x00\x00\x00\x00"
            SERVER META_END), 18, true, false },
    { "AMF3 data become AMF0", 15, BYTES("\x00\x02\x00\x03" "abc\x05"), BYTES("\x02\x00\x03" "abc\x05"), 18,
      false, false },
    { "metadata that is none stays", 18, BYTES("\x02\x00\x0aonMetaData\x05"),
      BYTES("\x02\x00\x0aonMetaData\x05"), 18, true, false },
    { "metadata cut off stays", 18, BYTES(META_HEAD), BYTES(META_HEAD), 18, true, false },
    { "a server's status is no media", 18, BYTES("\x02\x00\x08onStatus\x03\x00\x00\x09"), NULL, 0, 0,
      false, false },
    { "the same said in AMF3", 15, BYTES("\x00\x02\x00\x08onStatus\x03\x00\x00\x09"), NULL, 0, 0,
      false, false },
    { "a server's leave is no media", 18, BYTES("\x02\x00\x11|RtmpSampleAccess\x01\x01\x01\x01"),
      NULL, 0, 0, false, false },
    { "empty video", 9, BYTES(""), NULL, 0, 0, false, false },
    { "video of one byte", 9, BYTES("\x17"), NULL, 0, 0, false, false },
    { "another message", 20, BYTES("\x02\x00\x03" "abc"), NULL, 0, 0, false, false },
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct live_source *src = live_source_new("v/a/s", &settings);
        struct rtmp_intake m = { .src = src, .signature = "us/1." };
        struct rtmp_msg msg = { .type = rows[i].type, .size = (uint32_t)rows[i].in_size };
        const struct av_packet *pkt;

        print_message("  %s\n", rows[i].name);
        src->have_key = true; /* so that the log keeps later packets */
        msg.payload = rtmp_intake_alloc(NULL, rows[i].in_size);
        memcpy(msg.payload, rows[i].in, rows[i].in_size);
        rtmp_intake_push(&m, &msg);
        assert_null(msg.payload);
        assert_int_equal(src->head - src->first, rows[i].want ? 1 : 0);
        if (rows[i].want) {
            pkt = src->ring[src->first % src->cap];
            assert_int_equal(pkt->size, rows[i].want_size);
            assert_memory_equal(pkt->data, rows[i].want, rows[i].want_size);
            assert_int_equal(pkt->origin, rows[i].want_tag);
            assert_int_equal(pkt->config, rows[i].config);
            assert_int_equal(pkt->key, rows[i].key);
        }
        assert_int_equal(m.bad, rows[i].in_size == 1);
        (void)live_source_unref(src);
    }
    assert_int_equal(live_source_live(), 0);
}

#define META_ATC(v) "\x02\x00\x0aonMetaData\x08\x00\x00\x00\x01\x00\x09" "bravo_atc" v META_END

static const struct {
    const char *name, *in;
    size_t size;
    bool allowed, want;
} atc_rows[] = {
    { "says true", BYTES(META_ATC("\x02\x00\x04true")), true, true },
    { "says on", BYTES(META_ATC("\x01\x01")), true, true },
    { "says off", BYTES(META_ATC("\x01\x00")), true, false },
    { "says something else", BYTES(META_ATC("\x02\x00\x04" "abcd")), true, false },
    { "atc_auto is off", BYTES(META_ATC("\x02\x00\x04true")), false, false },
};

static void test_atc(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(atc_rows); i++) {
        struct live_source *src = live_source_new("v/a/s", &settings);
        struct rtmp_intake m = { .src = src, .signature = "us", .atc_auto = atc_rows[i].allowed };
        struct rtmp_msg msg = { .type = RTMP_DATA, .size = (uint32_t)atc_rows[i].size };

        print_message("  %s\n", atc_rows[i].name);
        msg.payload = rtmp_intake_alloc(NULL, atc_rows[i].size);
        memcpy(msg.payload, atc_rows[i].in, atc_rows[i].size);
        rtmp_intake_push(&m, &msg);
        assert_int_equal(m.atc, atc_rows[i].want);
        (void)live_source_unref(src);
    }
}

/* The chunk reader returns what a wire contains, for all times and sizes. */
static void test_wire(void **state)
{
    static const uint32_t ms[] = { 0, 0xfffffe, 0xffffff, 0x1000000, 0xffffffff };
    static const uint32_t sizes[] = { 1, 127, 128, 129, 70000 };
    const uint32_t param[LIVE_PARAMS] = { [RTMP_WIRE_CHUNK_SIZE] = 128, [RTMP_WIRE_STREAM_ID] = 5 };

    (void)state;
    for (size_t i = 0; i < COUNT(ms) * COUNT(sizes); i++) {
        struct av_packet *pkt = av_packet_new(sizes[i / COUNT(ms)]);
        struct rtmp_in in;
        struct rtmp_msg msg;
        uint8_t *out;
        size_t n;

        pkt->origin = 9;
        pkt->dts = AV_MS(ms[i % COUNT(ms)]);
        memset(pkt->data, (int)i, pkt->size);
        n = rtmp_wire.size(param, pkt, pkt->dts);
        out = malloc(n);
        assert_non_null(out);
        rtmp_wire.render(param, pkt, pkt->dts, out);
        rtmp_in_init(&in, &rtmp_in_heap);
        assert_ok(rtmp_in_feed(&in, out, n));
        assert_true(rtmp_in_next(&in, &msg));
        assert_int_equal(msg.time, ms[i % COUNT(ms)]);
        assert_int_equal(msg.stream_id, 5);
        assert_int_equal(msg.size, pkt->size);
        assert_memory_equal(msg.payload, pkt->data, pkt->size);
        free(msg.payload);
        rtmp_in_fini(&in);
        free(out);
        (void)av_packet_unref(pkt);
    }
}

static void test_wire_leaves_out(void **state)
{
    const uint32_t no_audio[LIVE_PARAMS] = { 128, 1, RTMP_WIRE_NO_AUDIO };
    const uint32_t no_video[LIVE_PARAMS] = { 128, 1, RTMP_WIRE_NO_VIDEO };
    struct av_packet audio = { .size = 10, .kind = AV_AUDIO, .origin = 8 };
    struct av_packet video = { .size = 10, .kind = AV_VIDEO, .origin = 9 };

    (void)state;
    assert_int_equal(rtmp_wire.size(no_audio, &audio, 0), 0);
    assert_true(rtmp_wire.size(no_audio, &video, 0) > 0);
    assert_int_equal(rtmp_wire.size(no_video, &video, 0), 0);
    assert_true(rtmp_wire.size(no_video, &audio, 0) > 0);
}

static const struct {
    const char *name;
    size_t n;
    struct { bool aside; uint32_t ms; int64_t want; } v[6];
} time_rows[] = {
    { "unchanged", 3, { { 0, 5000, 5000 }, { 0, 5040, 5040 }, { 0, 5020, 5020 } } },
    { "a wrap", 3, { { 0, 0xfffffff0, 0xfffffff0 }, { 0, 0x18, 0x100000018 },
                     { 0, 0x40, 0x100000040 } } },
    { "back over a wrap", 3, { { 0, 0xfffffff0, 0xfffffff0 }, { 0, 8, 0x100000008 },
                               { 0, 0xfffffff8, 0xfffffff8 } } },
    { "two wraps", 5, { { 0, 0x80000000, 0x80000000 }, { 0, 0xf0000000, 0xf0000000 },
                        { 0, 0x50000000, 0x150000000 }, { 0, 0xb0000000, 0x1b0000000 },
                        { 0, 0x10000000, 0x210000000 } } },
    { "a header of 0 before", 2, { { 1, 0, 0 }, { 0, 0xe0000000, 0xe0000000 } } },
    { "a header of 0 in the middle", 3, { { 0, 0x7ffffff8, 0x7ffffff8 }, { 1, 0, 0 },
                                          { 0, 0x80000008, 0x80000008 } } },
    { "a header of 0 after a wrap", 3, { { 0, 0xfffffff0, 0xfffffff0 }, { 1, 0, 0x100000000 },
                                         { 0, 0x10, 0x100000010 } } },
};

static void test_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(time_rows); i++) {
        struct rtmp_time t = { 0 };

        print_message("  %s\n", time_rows[i].name);
        for (size_t k = 0; k < time_rows[i].n; k++) {
            uint32_t ms = time_rows[i].v[k].ms;

            assert_int_equal(time_rows[i].v[k].aside ? rtmp_time_peek(&t, ms)
                                                     : rtmp_time_next(&t, ms),
                             time_rows[i].v[k].want);
        }
    }
}

/* A publisher that jumps by weeks with every message does not reach the end of 64 bits. */
static void test_time_leaps(void **state)
{
    struct rtmp_time t = { 0 };
    int64_t time = 0;

    (void)state;
    for (uint32_t i = 1; i < 200000; i++) {
        int64_t before = time;

        time = rtmp_time_next(&t, i * 0x7fffffff);
        assert_true(time > before || i > 30000);
        assert_true(time < (int64_t)1 << 47);
    }
}

static uint32_t wire_time(const struct av_packet *pkt)
{
    const uint32_t param[LIVE_PARAMS] = { [RTMP_WIRE_CHUNK_SIZE] = 128, [RTMP_WIRE_STREAM_ID] = 1 };
    uint8_t out[64];
    size_t n = rtmp_wire.size(param, pkt, pkt->dts);
    struct rtmp_in in;
    struct rtmp_msg msg;

    assert_true(n <= sizeof(out));
    rtmp_wire.render(param, pkt, pkt->dts, out);
    rtmp_in_init(&in, &rtmp_in_heap);
    assert_ok(rtmp_in_feed(&in, out, n));
    assert_true(rtmp_in_next(&in, &msg));
    free(msg.payload);
    rtmp_in_fini(&in);
    return msg.time;
}

/* From a publisher's 32 bits through 64 in the log to a player's 32 bits. */
static void test_time_wraps_at_both_ends(void **state)
{
    static const uint32_t ms[] = { 0xfffffff0, 0x10, 0x20 };
    struct live_source *src = live_source_new("v/a/s", &settings);
    struct rtmp_intake m = { .src = src, .signature = "us" };
    int64_t first = 0;

    (void)state;
    src->have_key = true;
    for (size_t i = 0; i < COUNT(ms); i++) {
        struct rtmp_msg msg = { .type = RTMP_VIDEO, .time = ms[i], .size = 6 };
        const struct av_packet *pkt;

        msg.payload = rtmp_intake_alloc(NULL, 6);
        memcpy(msg.payload, i ? "\x27\1\0\0\0x" : "\x17\1\0\0\0x", 6);
        rtmp_intake_push(&m, &msg);
        pkt = src->ring[(src->head - 1) % src->cap];
        first = i ? first : pkt->dts;
        assert_int_equal(pkt->dts - first, AV_MS((int64_t)(uint32_t)(ms[i] - ms[0])));
        assert_int_equal(wire_time(pkt), ms[i]);
    }
    (void)live_source_unref(src);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rows),
        TEST(test_atc),
        TEST(test_wire),
        TEST(test_wire_leaves_out),
        TEST(test_time),
        TEST(test_time_leaps),
        TEST(test_time_wraps_at_both_ends),
    };
    const struct log_setup quiet = { .min = LOG_NONE };
    err_t err = co_init();

    assert(!err);
    log_init(&quiet);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
