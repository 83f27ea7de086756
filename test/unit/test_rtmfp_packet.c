/* SPDX-License-Identifier: MIT */
/* test_rtmfp_packet.c - numbers, options, addresses, and the parts of packets. */
#include "rtmfp_bytes.h"

/* ---- numbers of variable length */

static const struct {
    uint64_t v;
    const char *hex;
} vlus[] = {
    { 0, "00" }, { 1, "01" }, { 0x7f, "7f" }, { 0x80, "8100" }, { 130, "8102" },
    { 0x3fff, "ff7f" }, { 0x4000, "818000" }, { UINT32_MAX, "8f ff ff ff 7f" },
    { INT64_MAX, "ff ff ff ff ff ff ff ff 7f" },
    { (uint64_t)INT64_MAX + 1, "81 80 80 80 80 80 80 80 80 00" },
    { UINT64_MAX, "81 ff ff ff ff ff ff ff ff 7f" },
};

static void vlu_both_ways(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(vlus); i++) {
        struct rtmfp_hex h = rtmfp_hex(vlus[i].hex);
        uint8_t out[RTMFP_VLU_MAX];

        for (size_t room = 0; room <= h.size; room++) {
            struct wr w = rtmfp_wr(out, room);
            struct rd r = rd_init(h.data, room);

            rtmfp_vlu_write(&w, vlus[i].v);
            assert_int_equal(w.bad == ERR_OK, room == h.size);
            assert_int_equal(w.len, w.bad ? 0 : h.size);
            assert_int_equal(rtmfp_vlu_read(&r), room == h.size ? vlus[i].v : 0);
            assert_int_equal(r.bad, room < h.size);
        }
        assert_hex(out, h.size, vlus[i].hex);
        assert_int_equal(rtmfp_vlu_size(vlus[i].v), h.size);
    }
}

static void vlu_too_large(void **state)
{
    static const char *const rows[] = {
        "82 80 80 80 80 80 80 80 80 00", "ff ff ff ff ff ff ff ff ff 7f",
        "80 80 80 80 80 80 80 80 80 80 01", "ff ff ff ff ff ff ff ff ff ff",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i]);
        struct rd r = rd_init(h.data, h.size);

        assert_int_equal(rtmfp_vlu_read(&r), 0);
        assert_true(r.bad);
    }
}

static void vlu_with_zeros_in_front(void **state)
{
    struct rtmfp_hex h = rtmfp_hex("80 80 80 80 80 80 80 80 80 05");
    struct rd r = rd_init(h.data, h.size);

    (void)state;
    assert_int_equal(rtmfp_vlu_read(&r), 5);
    assert_false(r.bad);
}

static void bytes_behind_a_number(void **state)
{
    static const struct {
        const char *hex, *want; /* NULL: invalid */
        size_t most;
    } rows[] = {
        { "00", "", 0 }, { "01 aa", "aa", 1 }, { "01 aa", NULL, 0 }, { "02 aa", NULL, 9 },
        { "8100 aa", NULL, 1000 }, { "81ffffffffffffffff7f aa", NULL, SIZE_MAX }, { "", NULL, 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i].hex);
        uint8_t *data = exact(h.data, h.size), out[16];
        struct rd r = rd_init(data, h.size);
        struct rtmfp_bytes b = rtmfp_bytes_read(&r, rows[i].most);
        struct wr w = rtmfp_wr(out, sizeof(out));

        assert_int_equal(r.bad, !rows[i].want);
        if (rows[i].want) {
            assert_bytes(b, rows[i].want);
            rtmfp_bytes_write(&w, b);
            assert_hex(out, w.len, rows[i].hex);
        }
        free(data);
    }
}

/* ---- options */

static void options_of_a_list(void **state)
{
    struct rtmfp_hex h = rtmfp_hex("01 0a 03 00 61 62 00 02 15 02 8102 1d 02");
    struct rtmfp_options o;
    struct rtmfp_option v;
    uint8_t out[64];
    struct wr w = rtmfp_wr(out, sizeof(out));

    (void)state;
    o = rtmfp_options_of(rtmfp_bytes(h.data, 10));
    assert_true(rtmfp_option_next(&o, &v) && v.type == 0x0a && v.value.n == 0 && !v.marker);
    assert_true(rtmfp_option_next(&o, &v) && v.type == 0 && v.value.n == 2);
    assert_memory_equal(v.value.p, "ab", 2);
    assert_true(rtmfp_option_next(&o, &v) && v.marker);
    assert_true(rtmfp_option_next(&o, &v) && v.type == 0x15 && v.value.n == 1);
    assert_false(rtmfp_option_next(&o, &v) || rtmfp_options_bad(&o));
    rtmfp_option_write(&w, 0x0a, rtmfp_bytes(NULL, 0));
    rtmfp_option_write(&w, 0, text_bytes("ab"));
    rtmfp_marker_write(&w);
    rtmfp_option_write_vlu(&w, 0x15, 2);
    assert_hex(out, w.len, "01 0a 03 00 61 62 00 02 15 02");
    /* the length of the last one exceeds the data */
    o = rtmfp_options_of(bytes_of(&h));
    while (rtmfp_option_next(&o, &v))
        ;
    assert_true(rtmfp_options_bad(&o));
}

static void options_that_are_wrong(void **state)
{
    static const char *const rows[] = {
        "02 0a", "01 80", "02 80 80", "80", "03 8180", "81ffffffffffffffff7f 00",
        "0b ffffffffffffffffffff 00",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i]);
        uint8_t *data = exact(h.data, h.size);
        struct rtmfp_options o = rtmfp_options_of(rtmfp_bytes(data, h.size));
        struct rtmfp_option v;

        assert_false(rtmfp_option_next(&o, &v));
        assert_true(rtmfp_options_bad(&o));
        assert_false(rtmfp_option_next(&o, &v));
        free(data);
    }
}

static void options_by_number(void **state)
{
    (void)state;
    for (unsigned n = RTMFP_OPTIONS_MAX - 1; n <= RTMFP_OPTIONS_MAX + 1; n++) {
        uint8_t list[2 * (RTMFP_OPTIONS_MAX + 1)];
        struct rtmfp_options o = rtmfp_options_of(rtmfp_bytes(list, (size_t)n * 2));
        struct rtmfp_option v;

        memset(list, 1, sizeof(list));
        while (rtmfp_option_next(&o, &v))
            ;
        assert_int_equal(rtmfp_options_bad(&o), n > RTMFP_OPTIONS_MAX);
    }
}

static void options_up_to_their_marker(void **state)
{
    struct rtmfp_hex h = rtmfp_hex("05 00 54430400 02 0a 03 00 ffee");

    (void)state;
    for (size_t size = 0; size <= h.size; size++) {
        uint8_t *data = exact(h.data, size);
        struct rd r = rd_init(data, size);
        struct rtmfp_bytes list = rtmfp_options_read(&r);

        assert_int_equal(r.bad, size < 10);
        if (size < 10)
            assert_int_equal(list.n, 0);
        else
            assert_bytes(list, "05 00 54430400 02 0a 03");
        assert_int_equal(rd_left(&r), size < 10 ? 0 : size - 10);
        free(data);
    }
}

/* One of length 0 is a marker, however many bytes encode the length. */
static void marker_of_two_bytes(void **state)
{
    struct rtmfp_hex h = rtmfp_hex("01 0a 80 00 ff");
    struct rd r = rd_init(h.data, h.size);

    (void)state;
    assert_bytes(rtmfp_options_read(&r), "01 0a");
    assert_true(!r.bad && rd_left(&r) == 1);
}

/* ---- addresses */

static void addresses(void **state)
{
    static const struct {
        const char *hex, *text;
        enum rtmfp_origin origin;
    } rows[] = {
        { "02 7f000001 078f", "127.0.0.1:1935", RTMFP_OBSERVED },
        { "00 00000000 0000", "0.0.0.0:0", RTMFP_UNKNOWN },
        { "03 ffffffff ffff", "255.255.255.255:65535", RTMFP_RELAY },
        { "81 20010db8000000000000000000000001 0001", "[2001:db8::1]:1", RTMFP_LOCAL },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i].hex);

        for (size_t size = 0; size <= h.size; size++) {
            uint8_t *data = exact(h.data, size), out[32];
            struct rd r = rd_init(data, size);
            struct wr w = rtmfp_wr(out, size);
            struct rtmfp_address a;
            char text[UDP_TEXT];

            rtmfp_address_read(&r, &a);
            assert_int_equal(r.bad, size < h.size);
            free(data);
            if (r.bad)
                continue;
            assert_int_equal(a.origin, rows[i].origin);
            assert_string_equal(udp_addr_text(&a.at, text, sizeof(text)), rows[i].text);
            rtmfp_address_write(&w, &a);
            assert_int_equal(w.bad, ERR_OK);
            assert_hex(out, w.len, rows[i].hex);
        }
    }
}

static void address_of_other_flags(void **state)
{
    struct rtmfp_hex mapped = rtmfp_hex("fe 00000000000000000000ffff0a000001 0050");
    struct rd r = rd_init(mapped.data, mapped.size);
    struct rtmfp_address a;
    uint8_t out[32];
    struct wr w = rtmfp_wr(out, sizeof(out));

    (void)state;
    rtmfp_address_read(&r, &a);
    assert_true(!r.bad && a.origin == RTMFP_OBSERVED && udp_addr_is_v4(&a.at));
    rtmfp_address_write(&w, &a);
    assert_hex(out, w.len, "02 0a000001 0050");
}

/* ---- packets */

static void packet_heads(void **state)
{
    static const struct {
        const char *hex;
        bool fine;
        struct rtmfp_head head;
    } rows[] = {
        { "0b 1234", true, { RTMFP_STARTUP, 0, true, false, 0x1234, 0 } },
        { "01", true, { RTMFP_INITIATOR, 0, false, false, 0, 0 } },
        { "8e ffff 0001", true, { RTMFP_RESPONDER, 0x80, true, true, 0xffff, 1 } },
        { "45 0102", true, { RTMFP_INITIATOR, 0x40, false, true, 0, 0x0102 } },
        { "31", true, { RTMFP_INITIATOR, 0x30, false, false, 0, 0 } },
        { "08 0001", false, { 0 } }, { "00", false, { 0 } }, { "", false, { 0 } },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i].hex);

        for (size_t size = 0; size <= h.size; size++) {
            uint8_t *data = exact(h.data, size), out[RTMFP_HEAD_MAX];
            struct wr w = rtmfp_wr(out, sizeof(out));
            struct rtmfp_packet p;

            assert_int_equal(rtmfp_packet_read(&p, rtmfp_bytes(data, size)),
                             rows[i].fine && size == h.size);
            free(data);
            if (size < h.size || !rows[i].fine)
                continue;
            assert_memory_equal(&p.head, &rows[i].head, sizeof(p.head));
            rtmfp_packet_begin(&w, &p.head);
            assert_hex(out, w.len, rows[i].hex);
        }
    }
}

/* Types of the valid chunks of a packet, as text. */
static void types_of(const char *hex, char *out, bool any)
{
    struct rtmfp_hex h = rtmfp_hex(hex);
    uint8_t *data = exact(h.data, h.size);
    struct rtmfp_packet p;
    struct rtmfp_chunk c;

    *out = '\0';
    assert_true(rtmfp_packet_read(&p, rtmfp_bytes(data, h.size)));
    while (any ? rtmfp_chunk_any(&p, &c) : rtmfp_chunk_next(&p, &c))
        out += snprintf(out, 8, "%02x:%zu ", c.type, c.body.n);
    assert_false(rtmfp_chunk_any(&p, &c));
    free(data);
}

static void packet_chunks(void **state)
{
    static const struct {
        const char *hex, *any, *count;
    } rows[] = {
        { "01 01 0000", "01:0 ", "01:0 " },
        { "01 010001aa 100002bbcc", "01:1 10:2 ", "01:1 10:2 " },
        { "01 010001aa ffffffff", "01:1 ", "01:1 " },   /* filled up */
        { "01 010001aa ffff", "01:1 ", "01:1 " },
        { "01 01000299", "", "" },                      /* its length does not fit */
        { "01 01ffff00", "", "" },
        { "01 00000199 010000", "00:1 01:0 ", "01:0 " }, /* padding in between */
        { "01 ff0000 010000", "ff:0 01:0 ", "01:0 " },
        { "01 4d0000 990001aa 410000", "4d:0 99:1 41:0 ", "41:0 " }, /* unknown ones */
        { "02 300000 700000 710000 380000 780000 790000 7f0000 0f0000",
          "30:0 70:0 71:0 38:0 78:0 79:0 7f:0 0f:0 ", "7f:0 0f:0 " },
        { "03 300000 700000 710000 380000 780000 790000 7f0000 0f0000",
          "30:0 70:0 71:0 38:0 78:0 79:0 7f:0 0f:0 ", "30:0 70:0 71:0 38:0 78:0 79:0 7f:0 " },
        { "03 010000 410000 100000 110000 500000 510000 180000 5e0000 0c0000 4c0000",
          "01:0 41:0 10:0 11:0 50:0 51:0 18:0 5e:0 0c:0 4c:0 ", "" },
        { "01 010000 410000 100000 110000 500000 510000 180000 5e0000 0c0000 4c0000",
          "01:0 41:0 10:0 11:0 50:0 51:0 18:0 5e:0 0c:0 4c:0 ",
          "01:0 41:0 10:0 11:0 50:0 51:0 18:0 5e:0 0c:0 4c:0 " },
    };
    char text[256];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        types_of(rows[i].hex, text, true);
        assert_string_equal(text, rows[i].any);
        types_of(rows[i].hex, text, false);
        assert_string_equal(text, rows[i].count);
    }
}

/* 400 of them in one packet. */
static void packet_of_many_chunks(void **state)
{
    uint8_t data[1 + 3 * 400];
    struct rtmfp_packet p;
    struct rtmfp_chunk c;
    unsigned n = 0;

    (void)state;
    memset(data, 0, sizeof(data));
    data[0] = RTMFP_INITIATOR;
    for (size_t i = 1; i < sizeof(data); i += 3)
        data[i] = RTMFP_PING;
    assert_true(rtmfp_packet_read(&p, rtmfp_bytes(data, sizeof(data))));
    while (rtmfp_chunk_next(&p, &c))
        n++;
    assert_int_equal(n, 400);
}

/* A chunk that does not fit leaves the packet unchanged. */
static void packet_without_room(void **state)
{
    static const struct rtmfp_head head = { .mode = RTMFP_RESPONDER, .has_time = true, .time = 7 };
    uint8_t out[16];

    (void)state;
    for (size_t room = 3; room <= sizeof(out); room++) {
        struct wr w = rtmfp_wr(out, room);

        rtmfp_packet_begin(&w, &head);
        assert_int_equal(rtmfp_chunk_room(&w), room < 6 ? 0 : room - 6);
        assert_int_equal(rtmfp_plain_write(&w, RTMFP_PING, text_bytes("abcd")), room >= 10);
        assert_int_equal(w.len, room >= 10 ? 10 : 3);
        assert_int_equal(w.bad, ERR_OK);
        assert_int_equal(rtmfp_plain_write(&w, RTMFP_CLOSE, rtmfp_bytes(NULL, 0)),
                         room >= w.len && (room >= 13 || (room >= 6 && room < 10)));
    }
}

/* A chunk has at most 65535 bytes, regardless of the room. */
static void chunk_that_is_too_large(void **state)
{
    size_t room = 70000;
    uint8_t *out = malloc(room), *body = calloc(1, room);
    struct wr w = rtmfp_wr(out, room);

    (void)state;
    assert_false(rtmfp_plain_write(&w, RTMFP_PING, rtmfp_bytes(body, 65536)));
    assert_int_equal(w.len, 0);
    assert_true(rtmfp_plain_write(&w, RTMFP_PING, rtmfp_bytes(body, 65535)));
    assert_int_equal(w.len, 65538);
    free(out);
    free(body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(vlu_both_ways), TEST(vlu_too_large), TEST(vlu_with_zeros_in_front),
        TEST(bytes_behind_a_number), TEST(options_of_a_list), TEST(options_that_are_wrong),
        TEST(options_by_number), TEST(options_up_to_their_marker), TEST(marker_of_two_bytes),
        TEST(addresses), TEST(address_of_other_flags), TEST(packet_heads), TEST(packet_chunks),
        TEST(packet_of_many_chunks), TEST(packet_without_room), TEST(chunk_that_is_too_large),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
