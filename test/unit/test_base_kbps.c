/* SPDX-License-Identifier: MIT */
/* test_base_kbps.c - rates, and their log line. */
#include "base/kbps.h"
#include "session/sampled.h"
#include "unit.h"

static const int64_t second = 1000000;

/* A megabit per second is 125,000 bytes. */
static uint64_t at_1m(int64_t t)
{
    return (uint64_t)(t / 8);
}

static void test_a_steady_stream_shows_its_rate_in_all_windows(void **state)
{
    struct kbps k;
    int64_t start = 77 * second;

    (void)state;
    kbps_init(&k, at_1m(start), start);
    for (int64_t t = start + second; t < start + 1000 * second; t += second) {
        kbps_sample(&k, at_1m(t), t);
        assert_int_equal(k.now_kbps, 1000);
        assert_int_equal(k.s30_kbps, 1000);
        assert_int_equal(k.m5_kbps, 1000);
    }
}

static void test_a_stream_that_stopped_leaves_each_window_in_its_time(void **state)
{
    struct kbps k;
    int64_t t, end = 600 * second;

    (void)state;
    kbps_init(&k, 0, 0);
    for (t = second; t <= end; t += second)
        kbps_sample(&k, at_1m(t), t);
    for (; t <= end + 400 * second; t += second) {
        kbps_sample(&k, at_1m(end), t);
        assert_int_equal(k.now_kbps, 0);
        if (t >= end + 31 * second)
            assert_int_equal(k.s30_kbps, 0);
        else if (t < end + 14 * second)
            assert_true(k.s30_kbps > 0);
        if (t >= end + 301 * second)
            assert_int_equal(k.m5_kbps, 0);
        else if (t < end + 149 * second)
            assert_true(k.m5_kbps > 0);
    }
}

static const struct {
    const char *name;
    uint64_t bytes;
    int64_t after;
    int now;
} rows[] = {
    { "nothing", 0, 1000000, 0 },
    { "a byte in a second is less than a kilobit", 1, 1000000, 0 },
    { "rounded", 100, 1000000, 1 },
    { "125 bytes in a millisecond", 125, 1000, 1000 },
    { "too early to tell", 125, 999, 0 },
    { "the clock stands", 125, 0, 0 },
    { "more than fits", UINT64_MAX, 1000, 2147483647 },
};

static void test_one_sample(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct kbps k;

        print_message("  %s\n", rows[i].name);
        kbps_init(&k, 0, 5 * second);
        kbps_sample(&k, rows[i].bytes, 5 * second + rows[i].after);
        assert_int_equal(k.now_kbps, rows[i].now);
        assert_int_equal(k.s30_kbps, rows[i].now);
    }
}

static void test_a_total_that_shrinks_restarts(void **state)
{
    struct kbps k;

    (void)state;
    kbps_init(&k, 0, 0);
    kbps_sample(&k, 1000000, second);
    kbps_sample(&k, 125, 2 * second);
    assert_int_equal(k.now_kbps, 0);
    kbps_sample(&k, 250, 3 * second);
    assert_int_equal(k.now_kbps, 1);
    assert_int_equal(k.s30_kbps, 1);
}

static void test_a_thousand_clients_print_one_line_a_period(void **state)
{
    struct sampled p = { 0 };
    int play = 0, publish = 0;

    (void)state;
    for (int64_t t = second; t <= 101 * second; t += second / 10) {
        for (int client = 0; client < 1000; client++)
            play += sampled_due(&p, SAMPLED_PLAY, t, 10 * second);
        publish += sampled_due(&p, SAMPLED_PUBLISH, t, 10 * second);
    }
    assert_int_equal(play, 10);
    assert_int_equal(publish, 10);
}

static void test_a_shorter_period_counts_at_once(void **state)
{
    struct sampled p = { 0 };

    (void)state;
    assert_false(sampled_due(&p, SAMPLED_PLAY, second, 1000 * second));
    assert_false(sampled_due(&p, SAMPLED_PLAY, 2 * second, second));
    assert_true(sampled_due(&p, SAMPLED_PLAY, 3 * second, second));
}

static void test_every_kind_has_a_name(void **state)
{
    (void)state;
    for (int kind = 0; kind < SAMPLED_KINDS; kind++)
        assert_non_null(sampled_name((enum sampled_kind)kind));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_steady_stream_shows_its_rate_in_all_windows),
        TEST(test_a_stream_that_stopped_leaves_each_window_in_its_time),
        TEST(test_one_sample),
        TEST(test_a_total_that_shrinks_restarts),
        TEST(test_a_thousand_clients_print_one_line_a_period),
        TEST(test_a_shorter_period_counts_at_once),
        TEST(test_every_kind_has_a_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
