/* SPDX-License-Identifier: MIT */
/* test_rtp_dts.c - decoding times of frames that only have presentation times. */
#include "format/rtp/dts.h"
#include "unit.h"

enum { EACH = 3600, PICTURES = 8 };

/* In frames of 40 ms. */
static const struct {
    const char *name;
    unsigned depth;
    int pts[PICTURES], dts[PICTURES];
} rows[] = {
    { "no B-frames", 0, { 0, 1, 2, 3, 4, 5, 6, 7 }, { 0, 1, 2, 3, 4, 5, 6, 7 } },
    { "none, but some might be", 1, { 0, 1, 2, 3, 4, 5, 6, 7 }, { -1, 0, 1, 2, 3, 4, 5, 6 } },
    { "one between", 1, { 0, 2, 1, 4, 3, 6, 5, 8 }, { -1, 0, 1, 2, 3, 4, 5, 6 } },
    { "two between", 1, { 0, 3, 1, 2, 6, 4, 5, 9 }, { -1, 0, 1, 2, 3, 4, 5, 6 } },
    { "a pyramid", 2, { 0, 4, 2, 1, 3, 8, 6, 5 }, { -2, -1, 0, 1, 2, 3, 4, 5 } },
    { "it begins after open frames", 1, { 5, 3, 4, 8, 6, 7, 11, 9 }, { 4, 5, 5, 5, 5, 6, 7, 8 } },
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct rtp_dts d;
        int64_t last = INT64_MIN;

        print_message("  %s\n", rows[i].name);
        rtp_dts_init(&d, rows[i].depth, 25);
        for (int k = 0; k < PICTURES; k++) {
            int64_t dts = rtp_dts_next(&d, rows[i].pts[k] * (int64_t)EACH);

            assert_true(dts > last);
            if (i + 1 < COUNT(rows))
                assert_int_equal(dts, rows[i].dts[k] * (int64_t)EACH);
            last = dts;
        }
    }
}

/* Without other information: after some frames none is decoded after its presentation. */
static void test_learns(void **state)
{
    static const int order[] = { 0, 4, 2, 1, 3 };
    struct rtp_dts d;
    int64_t last = INT64_MIN;
    unsigned late = 0;

    (void)state;
    rtp_dts_init(&d, 0, 0);
    for (int g = 0; g < 100; g++) {
        for (int k = g ? 1 : 0; k < 5; k++) {
            int64_t pts = (g * 4 + order[k]) * (int64_t)EACH, dts = rtp_dts_next(&d, pts);

            assert_true(dts > last);
            late += dts > pts;
            assert_true(g < 3 || dts <= pts);
            assert_true(pts - dts < 8 * EACH);
            last = dts;
        }
    }
    assert_in_range(late, 1, 6);
    assert_in_range(d.depth, 2, 6);
}

static void test_jumps(void **state)
{
    struct rtp_dts d;

    (void)state;
    rtp_dts_init(&d, 1, 25);
    assert_int_equal(rtp_dts_next(&d, 0), -EACH);
    assert_int_equal(rtp_dts_next(&d, EACH), 0);
    assert_int_equal(rtp_dts_next(&d, 90000000), 90000000 - EACH);
    assert_int_equal(rtp_dts_next(&d, 90000000 + EACH), 90000000);
    assert_int_equal(rtp_dts_next(&d, 0), -EACH);
}

/* Useless times. */
static void test_same(void **state)
{
    struct rtp_dts d;
    int64_t last = INT64_MIN;

    (void)state;
    rtp_dts_init(&d, 99, 1000);
    for (int i = 0; i < 1000; i++) {
        int64_t dts = rtp_dts_next(&d, i * 7919 % 1000 * 90);

        assert_true(dts > last);
        last = dts;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_rows), TEST(test_learns), TEST(test_jumps), TEST(test_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
