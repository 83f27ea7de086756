/* SPDX-License-Identifier: MIT */
/* test_base_units.c - one unit of time in another. */
#include "unit.h"

#include "base/units.h"

static void microseconds(void **state)
{
    static const struct {
        int64_t us;
        long long ms, s;
    } rows[] = {
        { 0, 0, 0 }, { 999, 0, 0 }, { 1000, 1, 0 }, { 999999, 999, 0 }, { 1000000, 1000, 1 },
        { -1999, -1, 0 }, { INT64_MAX, 9223372036854775, 9223372036854 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(us_to_ms(rows[i].us), rows[i].ms);
        assert_int_equal(us_to_s(rows[i].us), rows[i].s);
    }
}

static void ticks_of_media(void **state)
{
    static const struct {
        int64_t us, ticks;
        long long ms; /* in ticks */
    } rows[] = {
        { 0, 0, 0 }, { 11, 0, 0 }, { 12, 1, 0 }, { 999, 89, 0 }, { 1000, 90, 1 },
        { 40000, 3600, 40 }, { 1000000, AV_CLOCK, 1000 }, { -1000, -90, -1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(av_from_us(rows[i].us), rows[i].ticks);
        assert_int_equal(av_to_ms(rows[i].ticks), rows[i].ms);
    }
}

static void clocks(void **state)
{
    const struct timespec t = { 12, 345678901 };
    int64_t before = clock_us(CLOCK_MONOTONIC);

    (void)state;
    assert_int_equal(timespec_us(&t), 12345678);
    assert_true(before > 0);
    assert_true(clock_us(CLOCK_MONOTONIC) >= before);
    assert_int_equal(clock_us((clockid_t)12345), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(microseconds),
        TEST(ticks_of_media),
        TEST(clocks),
    };

    return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
