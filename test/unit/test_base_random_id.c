/* SPDX-License-Identifier: MIT */
/* test_base_random_id.c - unpredictable ids; growing pauses. */
#include "unit.h"

#include "base/pace.h"
#include "base/random_id.h"

#include <string.h>

static void ids_have_their_length(void **state)
{
    char id[40];

    (void)state;
    for (size_t n = 0; n < 32; n++) {
        memset(id, '#', sizeof(id));
        random_id(id, n);
        assert_int_equal(strlen(id), n);
        assert_int_equal(strspn(id, "0123456789abcdefghijklmnopqrstuvwxyz"), n);
        assert_int_equal(id[n + 1], '#');
    }
}

static void ids_differ(void **state)
{
    static char ids[2000][9];

    (void)state;
    for (size_t i = 0; i < COUNT(ids); i++) {
        random_id(ids[i], 8);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(ids[i], ids[k]);
    }
}

/* In 36,000 letters each occurs about 1,000 times: 6 standard deviations are 187. With the plain remainder of a
 * byte by 36, four letters would occur 1,124 times. */
static void letters_are_as_likely(void **state)
{
    unsigned seen[256] = { 0 }, early = 0;
    char id[1001];

    (void)state;
    for (int i = 0; i < 36; i++) {
        random_id(id, 1000);
        for (size_t k = 0; id[k]; k++)
            seen[(unsigned char)id[k]]++;
    }
    for (const char *c = "0123456789abcdefghijklmnopqrstuvwxyz"; *c; c++)
        assert_in_range(seen[(unsigned char)*c], 813, 1187);
    for (const char *c = "0123"; *c; c++)
        early += seen[(unsigned char)*c];
    assert_in_range(early, 3650, 4350);
}

static void pauses_double_up_to_the_longest(void **state)
{
    static const int64_t want[] = { 3, 6, 12, 24, 30, 30, 30 };
    struct backoff b = backoff_init(3, 30);

    (void)state;
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < COUNT(want); i++) {
            assert_int_equal(b.pause, want[i]);
            backoff_grow(&b);
        }
        backoff_reset(&b);
    }
    b = backoff_init(INT64_MAX / 2, INT64_MAX);
    backoff_grow(&b);
    backoff_grow(&b);
    assert_true(b.pause > INT64_MAX / 2);
    b = backoff_init(5, 5);
    backoff_grow(&b);
    assert_int_equal(b.pause, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ids_have_their_length),
        TEST(ids_differ),
        TEST(letters_are_as_likely),
        TEST(pauses_double_up_to_the_longest),
    };

    return cmocka_run_group_tests_name("random_id", tests, NULL, NULL);
}
