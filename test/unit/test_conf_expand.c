/* SPDX-License-Identifier: MIT */
/* test_conf_expand.c - variables in paths and URLs. */
#include "conf/expand.h"
#include "unit.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct conf_variable vars[] = {
    { "vhost", "v.com" }, { "app", "live" }, { "stream", "s" }, { "seq", "12" }, { "empty", "" },
};

/* 2026-03-04 05:06:07.089 UTC */
enum { SECONDS = 1772600767 };
#define MOMENT ((int64_t)SECONDS * 1000 + 89)

static const struct {
    const char *text, *wanted;
} rows[] = {
    { "", "" },
    { "plain", "plain" },
    { "[app]/[stream].flv", "live/s.flv" },
    { "./[vhost]/[app]/[stream]-[seq].ts", "./v.com/live/s-12.ts" },
    { "[2006]/[01]/[02]/[15].[04].[05].[999]", "2026/03/04/05.06.07.089" },
    { "[timestamp].flv", "1772600767089.flv" },
    { "[empty]x", "x" },
    { "[stream][stream]", "ss" },
    { "[unknown]/[app", "[unknown]/[app" },
    { "a]b[", "a]b[" },
    { "[]", "[]" },
    { "[[app]]", "[live]" },
    { "[2007]", "[2007]" },
    { "[app ]", "[app ]" },
};

static void texts(void **state)
{
    const struct conf_expand with = { .v = vars, .n = COUNT(vars), .msec = MOMENT, .utc = true,
                                      .file = true };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t n = strlen(rows[i].wanted);
        char buf[128];

        assert_ok(conf_expand(rows[i].text, &with, buf, sizeof(buf)));
        assert_string_equal(buf, rows[i].wanted);
        for (size_t size = 1; size <= n; size++) { /* all sizes that are too small */
            char *small = malloc(size);

            assert_non_null(small);
            assert_err(conf_expand(rows[i].text, &with, small, size), ERR_TOO_LARGE);
            free(small);
        }
        assert_ok(conf_expand(rows[i].text, &with, buf, n + 1));
    }
}

static void times_are_left(void **state)
{
    const struct conf_expand with = { .msec = -1 };
    char buf[64];

    (void)state;
    assert_ok(conf_expand("[2006][timestamp][app]", &with, buf, sizeof(buf)));
    assert_string_equal(buf, "[2006][timestamp][app]");
}

static void given_comes_first(void **state)
{
    const struct conf_variable v = { "timestamp", "7" };
    const struct conf_expand with = { .v = &v, .n = 1, .msec = MOMENT };
    char buf[64];

    (void)state;
    assert_ok(conf_expand("[timestamp]", &with, buf, sizeof(buf)));
    assert_string_equal(buf, "7");
}

static void local_time(void **state)
{
    const struct conf_expand with = { .msec = MOMENT };
    char buf[64];

    (void)state;
    assert_int_equal(setenv("TZ", "XXX-3", 1), 0);
    tzset();
    assert_ok(conf_expand("[15]:[04]", &with, buf, sizeof(buf)));
    assert_string_equal(buf, "08:06");
    assert_int_equal(setenv("TZ", "UTC", 1), 0);
    tzset();
}

static const struct {
    const char *value;
    bool ok;
} in_path[] = {
    { "a", true },         { "a/b", true },     { "a..b", true },   { "..a", true },
    { "a..", true },       { "...", true },     { ".", true },      { "a.b", true },
    { "..", false },       { "../x", false },   { "x/..", false },  { "x/../y", false },
    { "/../x", false },    { "x/....", true },  { "a\nb", false },  { "\x7f", false },
    { "\x01", false },     { "\xc3\xa4", true },
};

static void safe_paths(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(in_path); i++) {
        const struct conf_variable v = { "stream", in_path[i].value };
        struct conf_expand with = { .v = &v, .n = 1, .msec = MOMENT, .file = true };
        char buf[64];

        assert_err(conf_expand("x/[stream]", &with, buf, sizeof(buf)),
                   in_path[i].ok ? ERR_OK : ERR_MALFORMED);
        with.file = false;
        assert_ok(conf_expand("x/[stream]", &with, buf, sizeof(buf)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(texts),
        TEST(times_are_left), TEST(given_comes_first),
        TEST(local_time),
        TEST(safe_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
