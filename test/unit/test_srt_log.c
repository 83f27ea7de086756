/* SPDX-License-Identifier: MIT */
/* test_srt_log.c - packets kept for retransmission. */
#include "unit.h"

#include "proto/srt/log.h"

#include <string.h>

static uint8_t bytes[SRT_PAYLOAD_MAX + 1];

static void put(struct srt_log *l, int n, bool key, co_usec due)
{
    memset(bytes, n & 0xff, sizeof(bytes));
    assert_true(srt_log_put(l, bytes, 1 + (size_t)n % SRT_PAYLOAD_MAX, key, due));
}

static void is(const struct srt_log *l, uint64_t number, int n, bool key, co_usec due)
{
    struct srt_log_entry e = { 0 };
    size_t i;

    assert_true(srt_log_get(l, number, &e));
    assert_int_equal(e.size, 1 + (size_t)n % SRT_PAYLOAD_MAX);
    assert_int_equal(e.key, key);
    assert_int_equal(e.due, due);
    for (i = 0; i < e.size; i++)
        assert_int_equal(e.data[i], n & 0xff);
}

static void an_empty_one_has_nothing(void **state)
{
    struct srt_log l;
    struct srt_log_entry e = { 0 };

    (void)state;
    srt_log_init(&l);
    assert_false(srt_log_get(&l, 0, &e));
    srt_log_trim(&l, 100, 100, 0);
    assert_int_equal(l.bytes, 0);
    assert_false(l.has_key);
    srt_log_fini(&l);
}

static void sizes_that_are_none_are_left_out(void **state)
{
    struct srt_log l;

    (void)state;
    srt_log_init(&l);
    assert_false(srt_log_put(&l, bytes, 0, true, 1));
    assert_false(srt_log_put(&l, bytes, SRT_PAYLOAD_MAX + 1, true, 1));
    assert_int_equal(l.head, 0);
    assert_false(l.has_key);
    assert_true(srt_log_put(&l, bytes, SRT_PAYLOAD_MAX, false, 1));
    assert_int_equal(l.head, 1);
    srt_log_fini(&l);
    assert_int_equal(l.bytes, 0);
}

/* Packets are unchanged while the ring grows and the oldest are dropped. */
static void what_is_kept_stays_what_it_was(void **state)
{
    struct srt_log l;
    struct srt_log_entry e = { 0 };
    int n, i;

    (void)state;
    srt_log_init(&l);
    for (n = 0; n < 3000; n++) {
        put(&l, n, n % 100 == 0, n * 10);
        if (n >= 500)
            srt_log_trim(&l, (n - 300) * 10, UINT64_MAX, SIZE_MAX);
    }
    assert_int_equal(l.head, 3000);
    assert_int_equal(l.first, 2699);
    assert_true(l.has_key);
    assert_int_equal(l.key, 2900);
    assert_int_equal(l.key_before, 2800);
    assert_in_range(l.cap, 301, 512);
    for (i = 2699; i < 3000; i++)
        is(&l, (uint64_t)i, i, i % 100 == 0, i * 10);
    assert_false(srt_log_get(&l, 2698, &e));
    assert_false(srt_log_get(&l, 3000, &e));
    srt_log_fini(&l);
    assert_int_equal(l.bytes, 0);
}

static void what_players_may_start_at_is_kept(void **state)
{
    struct srt_log l;
    int n;

    (void)state;
    srt_log_init(&l);
    for (n = 0; n < 100; n++)
        put(&l, n, n == 40, n);
    srt_log_trim(&l, 90, l.key, SIZE_MAX);
    assert_int_equal(l.first, 40);
    assert_true(l.has_key);
    srt_log_key(&l, 45);
    assert_true(l.key == 45 && l.key_before == 40);
    srt_log_trim(&l, 90, 50, SIZE_MAX);
    assert_int_equal(l.first, 50);
    assert_false(l.has_key); /* it is gone */
    srt_log_trim(&l, 1000, UINT64_MAX, SIZE_MAX);
    assert_int_equal(l.first, 100);
    put(&l, 7, true, 2000); /* an empty one continues */
    is(&l, 100, 7, true, 2000);
    assert_int_equal(l.key, 100);
    srt_log_fini(&l);
}

static void bytes_are_bounded_whatever_is_wanted(void **state)
{
    struct srt_log l;
    int n;

    (void)state;
    srt_log_init(&l);
    for (n = 0; n < 2000; n++) {
        assert_true(srt_log_put(&l, bytes, 1000, n == 0, n));
        srt_log_trim(&l, 0, 0, 100 * 1000);
        assert_in_range(l.bytes, 1000, 100 * 1000 + 300000);
    }
    assert_int_equal(l.head - l.first, 100);
    assert_false(l.has_key);
    srt_log_trim(&l, 0, 0, 0);
    assert_int_equal(l.first, l.head);
    srt_log_fini(&l);
}

/* Packets before the players' start: equal content is shared, the last few are kept. */
static void leads_are_kept_for_a_while(void **state)
{
    struct srt_log l;
    struct srt_log_entry e = { 0 };

    (void)state;
    srt_log_init(&l);
    assert_false(srt_log_lead_get(&l, 0, &e) || srt_log_lead_get(&l, 1, &e));
    for (int i = 1; i <= 9; i++) {
        memset(bytes, i, sizeof(bytes));
        assert_true(srt_log_lead(&l, bytes, 188));
        assert_int_equal(l.lead, i);
        assert_true(srt_log_lead(&l, bytes, 188));
        assert_int_equal(l.lead, i);
    }
    for (int i = 1; i <= 10; i++) {
        assert_int_equal(srt_log_lead_get(&l, (uint64_t)i, &e), i > 5 && i < 10);
        if (i > 5 && i < 10)
            assert_true(e.size == 188 && e.data[187] == i);
    }
    assert_true(srt_log_lead(&l, NULL, 0));
    assert_int_equal(l.lead, 0);
    assert_true(srt_log_lead_get(&l, 9, &e));
    assert_true(srt_log_lead(&l, bytes, 188));
    assert_int_equal(l.lead, 9);
    assert_false(srt_log_lead(&l, bytes, SRT_PAYLOAD_MAX + 1));
    srt_log_fini(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_empty_one_has_nothing),
        TEST(sizes_that_are_none_are_left_out),
        TEST(what_is_kept_stays_what_it_was),
        TEST(what_players_may_start_at_is_kept),
        TEST(bytes_are_bounded_whatever_is_wanted),
        TEST(leads_are_kept_for_a_while),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
