/* SPDX-License-Identifier: MIT */
/* test_app_stat.c - the line about the process. */
#include "app/os/stat_line.h"
#include "unit.h"

#include <string.h>

static const struct {
    const char *want;
    struct stat_line line;
} rows[] = {
    { "Hybrid cpu=0.00%,0MB", { .cpu = 0 } },
    { "Hybrid cpu=12.35%,38MB", { .cpu = 12.345678, .rss = (39L << 20) - 1 } },
    { "Hybrid cpu=0.00%,0MB, conns=103,1,101,1, streams=1",
      { .server = { .connections = 103, .publishers = 1, .players = 101, .forwards = 1,
                    .streams = 1 } } },
    { "Hybrid cpu=0.00%,0MB, sched=2840/s, co=110", { .switches = 2840, .coroutines = 110 } },
    { "Hybrid cpu=0.00%,0MB, held=2, holds=7, clock=0,2,240,5,1,0,0,1,4",
      { .held = 2, .holds = 7, .clock = { { 0, 2, 240, 5, 1, 0, 0, 1 }, 4 } } },
};

static void test_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char buf[256];

        assert_int_equal(stat_line_text(&rows[i].line, buf, sizeof(buf)), strlen(rows[i].want));
        assert_string_equal(buf, rows[i].want);
    }
}

static void test_it_is_cut_where_there_is_no_room(void **state)
{
    char buf[300], want[300];

    (void)state;
    (void)stat_line_text(&rows[COUNT(rows) - 1].line, want, sizeof(want));
    for (size_t size = 1; size <= sizeof(buf); size++) {
        size_t n = stat_line_text(&rows[COUNT(rows) - 1].line, buf, size);

        assert_true(n < size);
        assert_int_equal(strlen(buf), n);
        assert_memory_equal(buf, want, n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_lines),
        TEST(test_it_is_cut_where_there_is_no_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
