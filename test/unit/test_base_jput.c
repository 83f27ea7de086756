/* SPDX-License-Identifier: MIT */
/* test_base_jput.c - the output is valid JSON for any input. */
#include "base/jput.h"
#include "unit.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void put_all(struct jput *j)
{
    jput_open(j, NULL, '{');
    jput_text(j, "text", "a\"b\\c\n\x01/\x7f");
    jput_text(j, "none", NULL);
    jput_int(j, "low", INT64_MIN);
    jput_uint(j, "high", UINT64_MAX);
    jput_open(j, "list", '[');
    jput_int(j, NULL, 1);
    jput_open(j, NULL, '{');
    jput_close(j, '}');
    jput_open(j, NULL, '[');
    jput_close(j, ']');
    jput_bool(j, NULL, true);
    jput_close(j, ']');
    jput_bool(j, "no", false);
    jput_real(j, "real", 1.250, 3);
    jput_real(j, "whole", 2.0, 2);
    jput_real(j, "zero", -0.001, 2);
    jput_real(j, "ten", 10.0, 0);
    jput_real(j, "nan", NAN, 2);
    jput_close(j, '}');
}

static void test_members(void **state)
{
    static const char want[] =
        "{\"text\":\"a\\\"b\\\\c\\n\\u0001/\\u007f\",\"none\":null,\"low\":-9223372036854775808,"
        "\"high\":18446744073709551615,\"list\":[1,{},[],true],\"no\":false,\"real\":1.25,"
        "\"whole\":2,\"zero\":0,\"ten\":10,\"nan\":null}";
    struct wr w;
    struct jput j = { .w = &w };

    (void)state;
    wr_init(&w, 4096);
    put_all(&j);
    assert_int_equal(w.len, sizeof(want) - 1);
    assert_memory_equal(w.buf, want, w.len);
    wr_free(&w);
}

struct shown {
    uint64_t n, on;
    int64_t us;
    const char *name;
    char text[8];
};

/* Optional members and those that go with them are left out. */
static void test_fields(void **state)
{
#define AT(member) .at = offsetof(struct shown, member)
    static const struct jput_field fields[] = {
        { "n", AT(n) }, { "ms", AT(us), JPUT_MILLI }, { "whole", AT(us), JPUT_WHOLE },
        { "on", AT(on), JPUT_BOOL }, { "name", AT(name), JPUT_TEXT | JPUT_OPTIONAL },
        { "with", AT(n), JPUT_WITH }, { "text", AT(text), JPUT_CHARS },
        { "more", AT(text), JPUT_CHARS | JPUT_OPTIONAL },
    };
    static const struct {
        struct shown v;
        const char *want;
    } shown[] = {
        { { UINT64_MAX, 1, 1500, "x", "abc" },
          "{\"n\":18446744073709551615,\"ms\":1.5,\"whole\":1,\"on\":true,\"name\":\"x\","
          "\"with\":18446744073709551615,\"text\":\"abc\",\"more\":\"abc\"}" },
        { { .us = -2500 }, "{\"n\":0,\"ms\":-2.5,\"whole\":-2,\"on\":false,\"text\":\"\"}" },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(shown); i++) {
        struct wr w;
        struct jput j = { .w = &w };

        wr_init(&w, 4096);
        jput_open(&j, NULL, '{');
        jput_fields(&j, fields, COUNT(fields), &shown[i].v);
        jput_close(&j, '}');
        wr_u8(&w, 0);
        assert_string_equal((char *)w.buf, shown[i].want);
        wr_free(&w);
    }
}

/* Invalid UTF-8 becomes U+FFFD, byte by byte; valid text stays. */
static const struct {
    const char *name, *in, *out;
} rows[] = {
    { "plain", "abc", "abc" },
    { "two bytes", "\xc3\xa9", "\xc3\xa9" },
    { "three bytes", "\xe4\xb8\xad\xe6\x96\x87", "\xe4\xb8\xad\xe6\x96\x87" },
    { "four bytes", "\xf0\x9f\x8e\xa5", "\xf0\x9f\x8e\xa5" },
    { "latin-1", "caf\xe9!", "caf\xef\xbf\xbd!" },
    { "cut", "\xe4\xb8", "\xef\xbf\xbd\xef\xbf\xbd" },
    { "overlong", "\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd" },
    { "surrogate", "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
    { "too high", "\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
    { "middle byte alone", "a\x80z", "a\xef\xbf\xbdz" },
};

static void test_utf8(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct wr w;
        struct jput j = { .w = &w };
        json_t *back;

        print_message("  %s\n", rows[i].name);
        wr_init(&w, 4096);
        jput_open(&j, NULL, '[');
        jput_text(&j, NULL, rows[i].in);
        jput_close(&j, ']');
        back = json_loadb((const char *)w.buf, w.len, 0, NULL);
        assert_non_null(back);
        assert_string_equal(json_string_value(json_array_get(back, 0)), rows[i].out);
        json_decref(back);
        wr_free(&w);
    }
}

static void test_every_pair_of_bytes(void **state)
{
    (void)state;
    for (unsigned v = 1; v < 0x10000; v++) {
        const char in[] = { 'x', (char)(v >> 8), (char)v, 'y' };
        struct wr w;
        struct jput j = { .w = &w };
        json_t *back;

        wr_init(&w, 256);
        jput_open(&j, NULL, '[');
        jput_bytes(&j, NULL, in, sizeof(in));
        jput_close(&j, ']');
        back = json_loadb((const char *)w.buf, w.len, JSON_ALLOW_NUL, NULL);
        assert_non_null(back);
        json_decref(back);
        wr_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_members), TEST(test_fields), TEST(test_utf8), TEST(test_every_pair_of_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
