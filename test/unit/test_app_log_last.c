/* SPDX-License-Identifier: MIT */
/* test_app_log_last.c - the last lines of the log: kept lines, returned lines. */
#include "app/log/last.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct log_last l;

static int set_up(void **state)
{
    (void)state;
    log_last_init(&l, 16);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    log_last_fini(&l);
    return 0;
}

static void put(const char *line)
{
    log_last_put(&l, line, strlen(line));
}

static void assert_copy(uint64_t after, size_t lines, const char *want)
{
    char *got = log_last_copy(&l, after, lines);

    assert_string_equal(got, want);
    free(got);
}

static void test_lines(void **state)
{
    (void)state;
    assert_copy(0, 10, "");
    put("one\n");
    put("two\n");
    put("three\n"); /* 14 bytes */
    assert_copy(0, 10, "one\ntwo\nthree\n");
    assert_copy(0, 2, "two\nthree\n");
    assert_copy(0, 0, "");
    assert_copy(4, 10, "two\nthree\n");
    assert_copy(4, 1, "three\n");
    assert_copy(14, 10, "");
    put("4\n"); /* exactly full */
    assert_copy(0, 10, "one\ntwo\nthree\n4\n");
    put("5\n"); /* across the end of the buffer */
    assert_copy(0, 10, "two\nthree\n4\n5\n");
    assert_copy(1, 10, "two\nthree\n4\n5\n"); /* no longer kept: from the oldest on */
    assert_copy(99, 10, "two\nthree\n4\n5\n"); /* a position from a previous run of the server */
}

static void test_odd_lines(void **state)
{
    (void)state;
    put("no line");
    put("");
    put("longer than all of it\n");
    assert_copy(0, 10, "");
    put("fifteen bytes..\n");
    assert_copy(0, 10, "fifteen bytes..\n");
    put("\n");
    assert_copy(0, 10, "\n");
}

/* In any case the newest whole lines are kept, as many as fit. */
static void test_many(void **state)
{
    char all[4000] = "", line[32];

    (void)state;
    for (int i = 0; i < 200; i++) {
        const char *from;

        (void)snprintf(line, sizeof(line), "%.*s%d\n", i * 7 % 11, "abcdefghijk", i);
        put(line);
        strcat(all, line);
        from = all + strlen(all);
        for (const char *p = from; p > all;) {
            do
                p--;
            while (p > all && p[-1] != '\n');
            if (strlen(p) > 16)
                break;
            from = p;
        }
        assert_copy(0, 100, from);
        assert_int_equal(l.end, strlen(all));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_odd_lines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
