/* SPDX-License-Identifier: MIT */
/* test_rtmfp_chunks.c - every chunk: round trips, cut anywhere, numbers of 64 bits. */
#include "rtmfp_again.h"
#include "rtmfp_bytes.h"

#define MOST "81ffffffffffffffff7f" /* 2^64-1 */

/* ---- all of them, read and written again */

static const struct {
    uint8_t type;
    const char *body;
    size_t least; /* bytes that are read: cut before this it is invalid */
} rows[] = {
    { RTMFP_IHELLO, "03 020a78 00112233445566778899aabbccddeeff", 4 },
    { RTMFP_IHELLO, "22 210f 00000000000000000000000000000000 00000000000000000000000000000000", 35 },
    { RTMFP_IHELLO, "00", 1 },
    { RTMFP_FORWARDED_IHELLO, "02 010a 02 7f000001 078f aabb", 10 },
    { RTMFP_FORWARDED_IHELLO, "00 81 20010db8000000000000000000000001 0001", 20 },
    { RTMFP_RHELLO, "02 aabb 03 010203 010a", 7 },
    { RTMFP_RHELLO, "00 00", 2 },
    { RTMFP_IIKEYING, "01020304 01 aa 02 bbcc 03 ddeeff 58", 13 },
    { RTMFP_IIKEYING, "ffffffff 00 00 00", 7 },
    { RTMFP_RIKEYING, "00000001 07 031a0000021e00 58", 12 },
    { RTMFP_COOKIE_CHANGE, "02 0102 030405", 3 },
    { RTMFP_FRAGMENT, "80 8102 00 aabb", 4 },
    { RTMFP_FRAGMENT, "00 " MOST MOST, 21 },
    { RTMFP_PING, "", 0 }, { RTMFP_PING, "00ff10", 0 }, { RTMFP_PING_REPLY, "4d", 0 },
    { RTMFP_CLOSE, "", 0 }, { RTMFP_CLOSE_ACK, "", 0 },
    { RTMFP_USER_DATA, "00 02 05 03 000102", 4 },
    { RTMFP_USER_DATA, "80 02 01 01 05 00 54430400 02 0a 03 00 14 00", 14 },
    { RTMFP_USER_DATA, "b3 02 01 01 00", 5 },
    { RTMFP_USER_DATA, "02 8200 05 00", 5 },
    { RTMFP_USER_DATA, "31 " MOST MOST MOST, 31 },
    { RTMFP_USER_DATA, "12 " MOST MOST "00 aa", 22 },
    { RTMFP_ACK_RANGES, "05 7f 10 00 00 01 03", 3 },
    { RTMFP_ACK_RANGES, MOST MOST MOST, 30 },
    { RTMFP_ACK_BITMAP, "05 7f 10 79 06", 3 },
    { RTMFP_ACK_BITMAP, "00 00 00", 3 },
    { RTMFP_BUFFER_PROBE, MOST, 10 }, { RTMFP_BUFFER_PROBE, "00", 1 },
    { RTMFP_FLOW_EXCEPTION, "02 00", 2 }, { RTMFP_FLOW_EXCEPTION, MOST MOST, 20 },
};

/* A chunk alone, in memory of exactly its size. If it is valid, writing gives the same bytes. */
static bool same_again(uint8_t type, const uint8_t *body, size_t size)
{
    uint8_t *data = exact(body, size), *out = malloc(size + RTMFP_CHUNK_HEAD);
    struct rtmfp_chunk c = { type, { data, size } };
    struct rtmfp_user_data last = { .seq = 0 };
    struct wr w = rtmfp_wr(out, size + RTMFP_CHUNK_HEAD);
    bool fine = chunk_again(&w, &c, &last);

    if (fine) {
        assert_int_equal(w.len, size + RTMFP_CHUNK_HEAD);
        assert_int_equal(out[0], type);
        assert_int_equal(out[1] << 8 | out[2], size);
        assert_memory_equal(out + RTMFP_CHUNK_HEAD, body, size);
    } else {
        assert_int_equal(w.len, 0);
    }
    free(data);
    free(out);
    return fine;
}

static void the_same_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i].body);

        for (size_t size = 0; size <= h.size; size++)
            if (same_again(rows[i].type, h.data, size) != (size >= rows[i].least))
                fail_msg("row %zu cut at %zu", i, size);
    }
}

/* A chunk without room leaves nothing. */
static void no_room(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtmfp_hex h = rtmfp_hex(rows[i].body);
        struct rtmfp_chunk c = { rows[i].type, bytes_of(&h) };

        for (size_t room = 0; room < h.size + RTMFP_CHUNK_HEAD; room++) {
            uint8_t *out = malloc(room + 1);
            struct rtmfp_user_data last = { .seq = 0 };
            struct wr w = rtmfp_wr(out, room);

            assert_false(chunk_again(&w, &c, &last));
            assert_true(w.len == 0 && !w.bad);
            free(out);
        }
    }
}

/* Lengths over the limits, or beyond the data. */
static void too_much(void **state)
{
    static const struct {
        uint8_t type;
        const char *head; /* and zeros behind it */
        size_t zeros;
        bool fine;
    } large[] = {
        { RTMFP_IHELLO, "8800", 1024, true }, { RTMFP_IHELLO, "8801", 1025, false },
        { RTMFP_IHELLO, "00", 64, true }, { RTMFP_IHELLO, "00", 65, false },
        { RTMFP_IHELLO, MOST, 10, false }, { RTMFP_IHELLO, "81808080808080808000", 10, false },
        { RTMFP_RHELLO, "40", 65, true }, { RTMFP_RHELLO, "41", 66, false },
        { RTMFP_RHELLO, "00 8200", 256, true }, { RTMFP_RHELLO, "00 8201", 257, false },
        { RTMFP_RHELLO, "00 00", 2048, true }, { RTMFP_RHELLO, "00 00", 2049, false },
        { RTMFP_IIKEYING, "00000000 00 9000", 2049, true },
        { RTMFP_IIKEYING, "00000000 00 9001", 2050, false },
        { RTMFP_IIKEYING, "00000000 00 00 8800", 1024, true },
        { RTMFP_IIKEYING, "00000000 00 00 8801", 1025, false },
        { RTMFP_IIKEYING, "00000000 " MOST, 1025, false },
        { RTMFP_RIKEYING, "00000000 8800", 1024, true },
        { RTMFP_RIKEYING, "00000000 8801", 1025, false },
        { RTMFP_COOKIE_CHANGE, "00", 256, true }, { RTMFP_COOKIE_CHANGE, "00", 257, false },
        { RTMFP_REDIRECT, "00", 7 * 24, true }, { RTMFP_REDIRECT, "00", 7 * 24 - 1, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(large); i++) {
        struct rtmfp_hex h = rtmfp_hex(large[i].head);
        uint8_t body[2100] = { 0 };

        memcpy(body, h.data, h.size);
        if (same_again(large[i].type, body, h.size + large[i].zeros) != large[i].fine)
            fail_msg("row %zu", i);
    }
}

static void user_data_that_is_wrong(void **state)
{
    static const char *const wrong[] = {
        "00 02 05 06",       /* a number before the first */
        "00 02 05 00",       /* nothing is abandoned, but the flag is set */
        "00 02 00 00", "02 02 00 00", "00 02 00 01", /* from 1 */
        "02 02 " MOST "82ffffffffffffffff7f", /* over 64 bits */
        "80 02 01 01", "80 02 01 01 01 00",   /* options without an end */
        "80 02 01 01 02 00", "80 02 01 01 " MOST "00",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(wrong); i++) {
        struct rtmfp_hex h = rtmfp_hex(wrong[i]);

        assert_false(same_again(RTMFP_USER_DATA, h.data, h.size));
    }
}

/* ---- their content */

static void a_whole_packet(void **state)
{
    /* [RTMFP] 2.3.12's: flow 2, sequences 5 and 6, all up to 2 abandoned */
    struct rtmfp_hex h = rtmfp_hex("02 10 0007 00 02 05 03 000102 11 0004 00 030405 ffffff");
    struct rtmfp_packet p;
    struct rtmfp_chunk c;
    struct rtmfp_user_data data = { .seq = 0 };
    uint8_t out[64];
    struct wr w = rtmfp_wr(out, sizeof(out));

    (void)state;
    assert_true(rtmfp_packet_read(&p, bytes_of(&h)));
    rtmfp_packet_begin(&w, &p.head);
    assert_true(rtmfp_chunk_next(&p, &c) && chunk_again(&w, &c, &data));
    assert_true(data.flow == 2 && data.seq == 5 && rtmfp_user_data_fsn(&data) == 2 && !data.next);
    assert_bytes(data.data, "000102");
    assert_true(rtmfp_chunk_next(&p, &c) && chunk_again(&w, &c, &data));
    assert_true(data.flow == 2 && data.seq == 6 && rtmfp_user_data_fsn(&data) == 2 && data.next);
    assert_bytes(data.data, "030405");
    assert_false(rtmfp_chunk_next(&p, &c));
    assert_hex(out, w.len, "02 10 0007 00 02 05 03 000102 11 0004 00 030405");
}

static void next_has_its_own_flags(void **state)
{
    struct rtmfp_hex first = rtmfp_hex("93 02 05 03 02 00 aa 00"), next = rtmfp_hex("20 cc"),
                     cut = rtmfp_hex("80 02");
    struct rtmfp_user_data data;

    (void)state;
    assert_true(rtmfp_user_data_read(&data, bytes_of(&first)));
    assert_true(data.has_options && data.position == RTMFP_BEGIN && data.abandoned && data.final);
    assert_bytes(data.options, "02 00 aa");
    assert_true(rtmfp_user_data_read_next(&data, bytes_of(&next)));
    assert_true(!data.has_options && data.position == RTMFP_END && !data.abandoned && !data.final);
    assert_int_equal(data.options.n, 0);
    assert_false(rtmfp_user_data_read_next(&data, bytes_of(&cut)));
    data.seq = UINT64_MAX;
    assert_false(rtmfp_user_data_read_next(&data, bytes_of(&next)));
}

/* The data from elsewhere, after the header. */
static void user_data_in_pieces(void **state)
{
    struct rtmfp_user_data data = { .flow = 2, .seq = 300, .offset = 1, .position = RTMFP_BEGIN,
                                    .data = { (const uint8_t *)"abc", 3 } };
    uint8_t out[32], whole[32];
    size_t size = rtmfp_user_data_head_size(&data);

    (void)state;
    for (size_t room = 0; room < sizeof(out); room++) {
        struct wr w = rtmfp_wr(out, room), v = rtmfp_wr(whole, room);
        bool fits = rtmfp_user_data_write(&v, &data);

        assert_int_equal(fits, room >= size + 3);
        assert_int_equal(rtmfp_user_data_write_head(&w, &data), fits);
        assert_int_equal(w.len, fits ? size : 0);
        if (!fits)
            continue;
        wr_bytes(&w, "abc", 3);
        assert_int_equal(w.len, v.len);
        assert_memory_equal(out, whole, w.len);
    }
}

static void redirect_of_addresses(void **state)
{
    struct rtmfp_hex h = rtmfp_hex("02 aabb 02 7f000001 078f"
                                   "81 20010db8000000000000000000000001 0001 03 0a000001 0050");
    static const size_t ends[] = { 3, 10, 29, 36 }; /* whole addresses */

    (void)state;
    for (size_t size = 0, end = 0; size <= h.size; size++) {
        bool fine = size == ends[end];

        end += fine;
        assert_int_equal(same_again(RTMFP_REDIRECT, h.data, size), fine);
    }
}

/* ---- acknowledgements */

/* The ranges as text: "18 21-24". */
static void ranges_of(const char *hex, bool bitmap, char *out, size_t room)
{
    struct rtmfp_hex h = rtmfp_hex(hex);
    uint8_t *data = exact(h.data, h.size);
    struct rtmfp_ack ack;
    struct rtmfp_ack_reader r;
    struct rtmfp_range range;
    size_t n;

    n = (size_t)snprintf(out, room, "wrong");
    if (rtmfp_ack_read(&ack, rtmfp_bytes(data, h.size), bitmap)) {
        n = (size_t)snprintf(out, room, "%ju", (uintmax_t)ack.cumulative);
        rtmfp_ack_begin(&r, &ack);
        while (rtmfp_ack_next(&r, &range))
            n += (size_t)snprintf(out + n, room - n, " %ju-%ju", (uintmax_t)range.first,
                                  (uintmax_t)range.last);
        assert_false(rtmfp_ack_next(&r, &range));
    }
    assert_true(n < room);
    free(data);
}

static void acks(void **state)
{
    static const struct {
        bool bitmap;
        const char *hex, *want;
    } acked[] = {
        { false, "05 7f 10 00 00 01 03", "16 18-18 21-24" }, /* [RTMFP] 2.3.14's */
        { false, "05 7f 10", "16" },
        { false, "05 7f 10 00", "16" },                /* a truncated pair does not count */
        { false, "05 7f 10 00 00 01", "16 18-18" },
        { false, "05 7f 10 00 00 01 80", "16 18-18" },
        { false, "05 7f 10 00 00 80", "16 18-18" },
        { false, "05 7f 00 00 00", "0 2-2" },
        { false, "05 7f 00 01 8100", "0 3-131" },
        { false, "05 00 81ffffffffffffffff7d 00 00", "18446744073709551613 "
                                                     "18446744073709551615-18446744073709551615" },
        { false, "05 00 81ffffffffffffffff7d 00 01", "wrong" },
        { false, "05 00 81ffffffffffffffff7e 00 00", "wrong" },
        { false, "05 00 81ffffffffffffffff7f 00 00", "wrong" },
        { false, "05 00 00 " MOST "00", "wrong" },
        { false, "05 00 00 00 " MOST, "wrong" },
        { false, "05 00 01 81ffffffffffffffff7e 00", "wrong" },
        { false, "05 00 00 81ffffffffffffffff7d 00", "0 18446744073709551615-18446744073709551615" },
        { false, "05 00 00 00 00 00 81ffffffffffffffff7b", "0 2-2 4-18446744073709551615" },
        { false, "05 00 00 00 00 00 81ffffffffffffffff7c", "wrong" },
        { false, "05 7f", "wrong" },
        { true, "05 7f 10 79 06", "16 18-18 21-24 27-28" },
        { true, "05 7f 10", "16" },
        { true, "05 7f 10 00", "16" },
        { true, "05 7f 10 ff", "16 18-25" },
        { true, "05 7f 10 80 01", "16 25-26" },
        { true, "05 7f 10 ff ff", "16 18-33" },
        { true, "05 7f 10 55", "16 18-18 20-20 22-22 24-24" },
        { true, "05 7f 10 00 00 80", "16 41-41" },
        { true, "05 00 81ffffffffffffffff76 80", "18446744073709551606 "
                                                 "18446744073709551615-18446744073709551615" },
        { true, "05 00 81ffffffffffffffff77 00", "wrong" },
        { true, "05 00 81ffffffffffffffff7f 00", "wrong" },
        { true, "05 00 81ffffffffffffffff7f", "18446744073709551615" },
        { true, "05 7f", "wrong" },
    };
    char text[128];

    (void)state;
    for (size_t i = 0; i < COUNT(acked); i++) {
        ranges_of(acked[i].hex, acked[i].bitmap, text, sizeof(text));
        if (strcmp(text, acked[i].want) != 0)
            fail_msg("row %zu: %s, not %s", i, text, acked[i].want);
    }
}

static void acks_that_we_write(void **state)
{
    static const struct rtmfp_range ranges[] = { { 18, 18 }, { 21, 24 }, { 1000, 2000 },
                                                 { UINT64_MAX, UINT64_MAX } };
    static const struct {
        size_t room;
        const char *want; /* NULL: there is no room */
    } by_room[] = {
        { 5, NULL }, { 6, "51 0003 05 7f 10" }, { 7, "51 0003 05 7f 10" },
        { 8, "51 0005 05 7f 10 00 00" }, { 10, "51 0007 05 7f 10 00 00 01 03" },
        { 13, "51 0007 05 7f 10 00 00 01 03" },
        { 14, "51 000b 05 7f 10 00 00 01 03 874e 8768" },
        { 64, "51 0016 05 7f 10 00 00 01 03 874e 8768 81fffffffffffffff02d 00" },
    };
    struct rtmfp_ack ack = { .flow = 5, .window = 127, .cumulative = 16, .bitmap = true };

    (void)state;
    for (size_t i = 0; i < COUNT(by_room); i++) {
        uint8_t out[64];
        struct wr w = rtmfp_wr(out, by_room[i].room);

        assert_int_equal(rtmfp_ack_write_ranges(&w, &ack, ranges, COUNT(ranges)),
                         by_room[i].want != NULL);
        assert_hex(out, w.len, by_room[i].want ? by_room[i].want : "");
    }
}

/* Reading returns what was written, for any ranges. */
static void ranges_there_and_back(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (int turn = 0; turn < 500; turn++) {
        struct rtmfp_range ranges[40], back;
        struct rtmfp_ack ack = { .cumulative = (uint64_t)turn << turn % 40 };
        struct rtmfp_ack_reader r;
        uint8_t out[512];
        struct wr w = rtmfp_wr(out, sizeof(out));
        uint64_t at = ack.cumulative;
        size_t n = (size_t)turn % COUNT(ranges);

        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525 + 1013904223;
            ranges[i].first = at + 2 + (seed >> 20) % 200;
            ranges[i].last = at = ranges[i].first + (seed >> 10) % 300;
        }
        assert_true(rtmfp_ack_write_ranges(&w, &ack, ranges, n));
        assert_true(rtmfp_ack_read(&ack, rtmfp_bytes(out + 3, w.len - 3), false));
        rtmfp_ack_begin(&r, &ack);
        for (size_t i = 0; i < n; i++) {
            assert_true(rtmfp_ack_next(&r, &back));
            assert_true(back.first == ranges[i].first && back.last == ranges[i].last);
        }
        assert_false(rtmfp_ack_next(&r, &back));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_same_again), TEST(no_room), TEST(too_much), TEST(user_data_that_is_wrong),
        TEST(a_whole_packet), TEST(next_has_its_own_flags), TEST(user_data_in_pieces),
        TEST(redirect_of_addresses), TEST(acks), TEST(acks_that_we_write),
        TEST(ranges_there_and_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
