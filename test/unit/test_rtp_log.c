/* SPDX-License-Identifier: MIT */
/* test_rtp_log.c - packets of a stream kept for all its players. */
#include "wire/rtp_log.h"

#include "unit.h"

#include <string.h>

static uint8_t bytes[RTP_LOG_PAYLOAD_MAX + 1];

static struct rtp_log_entry entry(unsigned track, int64_t number, size_t size, co_usec at)
{
    memset(bytes, (int)(number & 0xff) ^ (int)track, sizeof(bytes));
    return (struct rtp_log_entry){ .data = bytes, .size = (uint16_t)size, .track = (uint8_t)track,
                                   .number = number, .ticks = number * 3000, .at = at };
}

static bool put(struct rtp_log *l, unsigned track, int64_t number, size_t size, co_usec at)
{
    struct rtp_log_entry e = entry(track, number, size, at);

    return rtp_log_put(l, &e);
}

static void is(const struct rtp_log *l, uint64_t place, unsigned track, int64_t number,
               size_t size)
{
    struct rtp_log_entry e;

    assert_true(rtp_log_get(l, place, &e));
    assert_int_equal(e.track, track);
    assert_int_equal(e.number, number);
    assert_int_equal(e.ticks, number * 3000);
    assert_int_equal(e.size, size);
    for (size_t i = 0; i < size; i++)
        assert_int_equal(e.data[i], (number & 0xff) ^ (int)track);
}

static void finds(const struct rtp_log *l, unsigned track, int64_t number, uint64_t at)
{
    uint64_t place;

    assert_true(rtp_log_find(l, track, number, &place));
    assert_int_equal(place, at);
}

static void finds_none(const struct rtp_log *l, unsigned track, int64_t number)
{
    uint64_t place;

    assert_false(rtp_log_find(l, track, number, &place));
}

static void an_empty_one_has_nothing(void **state)
{
    struct rtp_log *l = rtp_log_new();
    struct rtp_log_entry e;
    uint64_t place;

    (void)state;
    assert_false(rtp_log_get(l, 0, &e));
    assert_false(rtp_log_key(l, &place));
    finds_none(l, 0, 0);
    finds_none(l, 2, 0);
    rtp_log_trim(l, 100, 100, 0);
    assert_int_equal(rtp_log_first(l), 0);
    assert_int_equal(rtp_log_head(l), 0);
    rtp_log_free(l);
    rtp_log_free(NULL);
}

static void what_cannot_be_is_left_out(void **state)
{
    struct rtp_log *l = rtp_log_new();
    struct rtp_log_entry e = entry(0, 1, RTP_LOG_PAYLOAD_MAX + 1, 1);

    (void)state;
    assert_false(rtp_log_put(l, &e));
    e = entry(RTP_LOG_TRACKS, 1, 10, 1);
    assert_false(rtp_log_put(l, &e));
    e = entry(0, 1, 10, 1);
    e.ext = bytes;
    e.ext_size = RTP_LOG_EXT_MAX + 1;
    assert_false(rtp_log_put(l, &e));
    assert_int_equal(rtp_log_head(l), 0);
    assert_true(put(l, 0, 1, RTP_LOG_PAYLOAD_MAX, 1));
    assert_true(put(l, 0, 2, 0, 1));
    is(l, 0, 0, 1, RTP_LOG_PAYLOAD_MAX);
    is(l, 1, 0, 2, 0);
    rtp_log_free(l);
}

/* The tracks have separate numbers, which may be equal. */
static void what_is_kept_stays_while_it_grows(void **state)
{
    struct rtp_log *l = rtp_log_new();
    size_t least = rtp_log_bytes(l);

    (void)state;
    for (int64_t n = 0; n < 3000; n++) {
        assert_true(put(l, 0, 1000 + n, (size_t)n % 1200, n));
        assert_true(put(l, 1, 1000 + n, (size_t)n % 200, n));
    }
    for (int64_t n = 0; n < 3000; n++) {
        finds(l, 0, 1000 + n, (uint64_t)n * 2);
        finds(l, 1, 1000 + n, (uint64_t)n * 2 + 1);
        is(l, (uint64_t)n * 2, 0, 1000 + n, (size_t)n % 1200);
        is(l, (uint64_t)n * 2 + 1, 1, 1000 + n, (size_t)n % 200);
    }
    finds_none(l, 0, 999);
    finds_none(l, 0, 4000);
    assert_true(rtp_log_bytes(l) > 3000 * 700);
    rtp_log_trim(l, 2900, UINT64_MAX, SIZE_MAX);
    assert_int_equal(rtp_log_first(l), 5800);
    finds_none(l, 0, 1000);
    finds_none(l, 0, 3899);
    finds(l, 0, 3900, 5800);
    rtp_log_trim(l, INT64_MAX, UINT64_MAX, 0);
    finds_none(l, 0, 3999);
    assert_true(rtp_log_bytes(l) < least + 512 * 1024);
    rtp_log_free(l);
}

static void the_newest_key_is_where_players_start(void **state)
{
    struct rtp_log *l = rtp_log_new();
    uint64_t place;

    (void)state;
    for (int64_t n = 0; n < 10; n++) {
        struct rtp_log_entry e = entry(0, n, 100, n * 10);

        e.key = n % 4 == 0;
        assert_true(rtp_log_put(l, &e));
    }
    assert_true(rtp_log_key(l, &place));
    assert_int_equal(place, 8);
    rtp_log_trim(l, 1000, 8, SIZE_MAX); /* but not it, and what follows */
    assert_int_equal(rtp_log_first(l), 8);
    assert_true(rtp_log_key(l, &place));
    rtp_log_trim(l, 0, 8, 150); /* except for the limit */
    assert_int_equal(rtp_log_first(l), 9);
    assert_false(rtp_log_key(l, &place));
    assert_true(put(l, 0, 10, 1, 1));
    rtp_log_no_key(l);
    assert_false(rtp_log_key(l, &place));
    rtp_log_free(l);
}

/* Gaps stay until the lost packet arrives; one number is never two packets. */
static void late_ones_have_their_number(void **state)
{
    struct rtp_log *l = rtp_log_new();
    struct rtp_log_entry e;
    int64_t number;

    (void)state;
    assert_false(rtp_log_highest(l, 0, &number));
    assert_true(put(l, 0, 100, 10, 1));
    assert_true(put(l, 0, 105, 10, 1));
    assert_false(put(l, 0, 100, 10, 1));
    finds_none(l, 0, 103);
    assert_true(put(l, 0, 103, 10, 1));
    assert_true(rtp_log_get(l, 2, &e) && e.late);
    finds(l, 0, 103, 2);
    assert_false(put(l, 0, 103, 10, 1));
    assert_true(put(l, 0, 99, 10, 1)); /* before the first */
    assert_true(rtp_log_highest(l, 0, &number));
    assert_int_equal(number, 105);
    rtp_log_trim(l, 100, UINT64_MAX, SIZE_MAX);
    assert_false(put(l, 0, 103, 10, 1)); /* although it is no longer kept */
    assert_true(put(l, 0, 105 + 2047, 10, 1));
    assert_false(put(l, 0, 104, 10, 1));
    assert_false(put(l, 0, 105, 10, 1));
    assert_true(put(l, 0, 106, 10, 1));
    assert_true(put(l, 0, 1 << 30, 10, 1));
    assert_true(put(l, 0, (1 << 30) - 2047, 10, 1));
    assert_false(put(l, 0, (1 << 30) - 2048, 10, 1));
    rtp_log_free(l);
}

static void values_of_extensions_come_along(void **state)
{
    struct rtp_log *l = rtp_log_new();
    struct rtp_log_entry e = entry(1, 5, 20, 1), out;
    const uint8_t ext[] = { 3, 1, 0x80 };

    (void)state;
    e.ext = ext;
    e.ext_size = sizeof(ext);
    e.marker = true;
    assert_true(rtp_log_put(l, &e));
    assert_true(rtp_log_get(l, 0, &out));
    assert_int_equal(out.ext_size, sizeof(ext));
    assert_memory_equal(out.ext, ext, sizeof(ext));
    assert_true(out.marker && !out.late && !out.key);
    is(l, 0, 1, 5, 20);
    rtp_log_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_empty_one_has_nothing),
        TEST(what_cannot_be_is_left_out),
        TEST(what_is_kept_stays_while_it_grows),
        TEST(the_newest_key_is_where_players_start),
        TEST(late_ones_have_their_number),
        TEST(values_of_extensions_come_along),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
