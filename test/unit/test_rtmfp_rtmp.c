/* SPDX-License-Identifier: MIT */
/* test_rtmfp_rtmp.c - metadata of flows, messages, user control, addresses; cut anywhere. */
#include "proto/rtmfp/rtmp.h"
#include "rtmfp_bytes.h"

#include "proto/rtmp/command.h"

#define OVER "0102030405060708090a0b0c0d0e0f10"

/* ---- metadata */

static const struct {
    const char *metadata;
    enum rtmfp_flow_kind kind;
    bool direct;
    uint32_t stream;
    size_t least; /* minimum: cut before this it is unknown */
} flows[] = {
    { "54430400", RTMFP_FLOW_RTMP, false, 0, 4 },
    { "54430405", RTMFP_FLOW_RTMP, false, 5, 4 },
    { "5443058102", RTMFP_FLOW_RTMP, true, 130, 5 },
    { "5443fe01", RTMFP_FLOW_RTMP, false, 1, 4 },
    { "544304018f", RTMFP_FLOW_RTMP, false, 1, 4 },
    { "5443048fffffff7f", RTMFP_FLOW_RTMP, false, UINT32_MAX, 8 },
    { "5443049080808000", RTMFP_FLOW_UNKNOWN, false, 0, 0 }, /* 2^32 */
    { "54430481ffffffffffffffff7f", RTMFP_FLOW_UNKNOWN, false, 0, 0 },
    { "54430000", RTMFP_FLOW_UNKNOWN, false, 0, 0 }, /* without a stream */
    { "544301", RTMFP_FLOW_UNKNOWN, false, 0, 0 },
    { "4743", RTMFP_FLOW_GROUP, false, 0, 2 },
    { "474304" OVER, RTMFP_FLOW_GROUP, false, 0, 2 },
    { "43540400", RTMFP_FLOW_UNKNOWN, false, 0, 0 },
    { "", RTMFP_FLOW_UNKNOWN, false, 0, 0 },
};

static void metadata_say_which_flow_it_is(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(flows) / sizeof(flows[0]); i++) {
        struct rtmfp_hex h = rtmfp_hex(flows[i].metadata);

        for (size_t size = 0; size <= h.size; size++) {
            uint8_t *data = exact(h.data, size);
            struct rtmfp_flow_metadata got = rtmfp_flow_metadata_parse(rtmfp_bytes(data, size));
            bool whole = size >= flows[i].least;

            assert_int_equal(got.kind, whole ? flows[i].kind : RTMFP_FLOW_UNKNOWN);
            assert_int_equal(got.direct, whole && flows[i].direct);
            assert_int_equal(got.stream, whole ? flows[i].stream : 0);
            free(data);
        }
    }
}

static void our_metadata_are_read_again(void **state)
{
    static const struct {
        uint32_t stream;
        const char *bytes;
    } rows[] = {
        { 0, "54430400" }, { 1, "54430401" }, { 127, "5443047f" }, { 128, "5443048100" },
        { UINT32_MAX, "5443048fffffff7f" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        uint8_t out[RTMFP_FLOW_METADATA_MAX];
        struct rtmfp_bytes b = rtmfp_bytes(out, rtmfp_flow_metadata_build(rows[i].stream, out));
        struct rtmfp_flow_metadata got = rtmfp_flow_metadata_parse(b);

        assert_bytes(b, rows[i].bytes);
        assert_int_equal(got.kind, RTMFP_FLOW_RTMP);
        assert_int_equal(got.stream, rows[i].stream);
    }
}

/* ---- messages */

static void messages_are_read_and_written(void **state)
{
    static const char *const rows[] = { "0801020304", "09ffffffff1700000000", ("1400000000" OVER) };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i]);

        for (size_t size = 0; size <= h.size; size++) {
            uint8_t *data = exact(h.data, size);
            struct rtmfp_rtmp_message said;
            struct rtmfp_message *m;
            bool whole = rtmfp_rtmp_message_parse(&said, rtmfp_bytes(data, size));

            assert_int_equal(whole, size >= RTMFP_MESSAGE_HEAD);
            if (whole) {
                m = rtmfp_rtmp_message_new(said.type, said.time, said.body, 77);
                assert_non_null(m);
                assert_int_equal(m->refs, 1);
                assert_int_equal(m->created_at, 77);
                assert_int_equal(m->size, size);
                assert_memory_equal(m->bytes, data, size);
                rtmfp_message_unref(m);
            }
            free(data);
        }
    }
}

static void a_message_has_type_time_and_body(void **state)
{
    struct rtmfp_hex h = rtmfp_hex("0980000001aabb");
    struct rtmfp_rtmp_message said;

    (void)state;
    assert_true(rtmfp_rtmp_message_parse(&said, bytes_of(&h)));
    assert_int_equal(said.type, 9);
    assert_int_equal(said.time, 0x80000001);
    assert_bytes(said.body, "aabb");
}

static void a_message_may_be_huge_but_not_over_its_size(void **state)
{
    static uint8_t body[1 << 20];
    struct rtmfp_message *m = rtmfp_rtmp_message_new(9, 0, rtmfp_bytes(body, sizeof(body)), 0);

    (void)state;
    assert_non_null(m);
    assert_int_equal(m->size, RTMFP_MESSAGE_HEAD + sizeof(body));
    rtmfp_message_unref(m);
    assert_null(rtmfp_rtmp_message_new(9, 0, rtmfp_bytes(body, UINT32_MAX), 0));
    assert_null(rtmfp_rtmp_message_new(9, 0, rtmfp_bytes(body, SIZE_MAX), 0));
}

/* ---- user control */

static const struct {
    const char *bytes;
    struct rtmfp_event event;
} events[] = {
    { "000000000005", { RTMP_STREAM_BEGIN, 5, 0 } },
    { "000300000001000003e8", { RTMP_SET_BUFFER_LENGTH, 1, 1000 } },
    { "00220000000700000002", { RTMFP_FLOW_SYNC, 7, 2 } },
    { "002900004e2000002710", { RTMFP_KEEPALIVES, 20000, 10000 } },
    { "0022ffffffffffffffff", { RTMFP_FLOW_SYNC, UINT32_MAX, UINT32_MAX } },
    { "ffff00000000", { 0xffff, 0, 0 } },
};

static void user_control_is_read_and_written(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        struct rtmfp_hex h = rtmfp_hex(events[i].bytes);
        uint8_t out[RTMFP_EVENT_MAX];
        struct rtmfp_event e;

        for (size_t size = 0; size <= h.size; size++) {
            uint8_t *data = exact(h.data, size);

            assert_int_equal(rtmfp_event_read(&e, rtmfp_bytes(data, size)), size == h.size);
            free(data);
        }
        assert_int_equal(e.id, events[i].event.id);
        assert_int_equal(e.value, events[i].event.value);
        assert_int_equal(e.more, events[i].event.more);
        assert_bytes(rtmfp_bytes(out, rtmfp_event_write(&e, out)), events[i].bytes);
    }
}

static void what_is_behind_user_control_is_ignored(void **state)
{
    struct rtmfp_hex h = rtmfp_hex("000000000005" OVER);
    struct rtmfp_event e;

    (void)state;
    assert_true(rtmfp_event_read(&e, bytes_of(&h)));
    assert_int_equal(e.value, 5);
    assert_int_equal(e.more, 0);
}

/* ---- addresses */

static void addresses_are_read(void **state)
{
    static const struct {
        const char *text, *same; /* same: as we write it */
    } rows[] = {
        { "192.0.2.1:1935", "192.0.2.1:1935" },
        { "192.0.2.1:1", "192.0.2.1:1" },
        { "255.255.255.255:65535", "255.255.255.255:65535" },
        { "[2001:db8::1]:1935", "[2001:db8::1]:1935" },
        { "[::1]:00080", "[::1]:80" },
        { "[::ffff:192.0.2.7]:80", "192.0.2.7:80" },
        { "[2001:db8:1111:2222:3333:4444:5555:6666]:65535",
          "[2001:db8:1111:2222:3333:4444:5555:6666]:65535" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct rtmfp_address a;
        char text[UDP_TEXT];

        assert_true(rtmfp_address_of_text(&a, rows[i].text));
        assert_int_equal(a.origin, RTMFP_LOCAL);
        assert_string_equal(udp_addr_text(&a.at, text, sizeof(text)), rows[i].same);
    }
}

static void what_is_no_address_is_not_taken(void **state)
{
    static const char *const rows[] = {
        "", ":", ":1", "1", "::", "1.2.3.4", "1.2.3.4:", "1.2.3.4:0", "1.2.3.4:65536",
        "1.2.3.4:100000", "1.2.3.4:000001", "1.2.3.4:1x", "1.2.3.4:-1", "1.2.3.4:+1",
        "1.2.3.4: 1", "1.2.3:1", "1.2.3.4.5:1", "256.2.3.4:1", "0.0.0.0:1", "[]:1", "[::]:1",
        "[::ffff:0.0.0.0]:1", "2001:db8::1:1935", "[2001:db8::1]", "[2001:db8::1]1935",
        "[2001:db8::1:1935", "2001:db8::1]:1935", "[fe80::1%lo]:1", "[fe80::1%1]:1",
        "localhost:1935", "host:1", "*:1", "any:1", "/tmp/x:1", "[[::1]]:1", "[x]:1",
        "1.2.3.4:1:1", OVER OVER OVER OVER ":1", "[" OVER OVER OVER OVER "]:1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct rtmfp_address a;

        if (rtmfp_address_of_text(&a, rows[i]))
            fail_msg("%s is taken for an address", rows[i]);
    }
}

static void an_address_cut_anywhere_is_read_or_not(void **state)
{
    static const char *const rows[] = { "192.0.2.1:1935", "[2001:db8::1]:1935" };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        size_t port = strlen(rows[i]) - 4;

        for (size_t n = 0; n <= strlen(rows[i]); n++) {
            char *cut = strndup(rows[i], n);
            struct rtmfp_address a;

            assert_non_null(cut);
            assert_int_equal(rtmfp_address_of_text(&a, cut), n > port);
            free(cut);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_say_which_flow_it_is),
        cmocka_unit_test(our_metadata_are_read_again),
        cmocka_unit_test(messages_are_read_and_written),
        cmocka_unit_test(a_message_has_type_time_and_body),
        cmocka_unit_test(a_message_may_be_huge_but_not_over_its_size),
        cmocka_unit_test(user_control_is_read_and_written),
        cmocka_unit_test(what_is_behind_user_control_is_ignored),
        cmocka_unit_test(addresses_are_read),
        cmocka_unit_test(what_is_no_address_is_not_taken),
        cmocka_unit_test(an_address_cut_anywhere_is_read_or_not),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
