/* SPDX-License-Identifier: MIT */
/* test_base_jpick.c - strings picked out of JSON, compared with a full parser. */
#include "base/jpick.h"
#include "unit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *json;
    bool fine;
    const char *a, *b;
} rows[] = {
    { "both", "{\"a\":\"1\",\"b\":\"2\"}", true, "1", "2" },
    { "white space", " \t\r\n{ \"a\" : \"1\" , \"b\"\n:\n\"2\" } \n", true, "1", "2" },
    { "empty", "{}", true, NULL, NULL },
    { "empty with space", "{ }", true, NULL, NULL },
    { "no strings", "{\"a\":1,\"b\":null}", true, NULL, NULL },
    { "an empty string", "{\"a\":\"\"}", true, "", NULL },
    { "the last one counts", "{\"a\":\"1\",\"a\":\"2\",\"b\":\"3\",\"b\":4}", true, "2", NULL },
    { "all other values", "{\"x\":-1.5E+3,\"y\":true,\"z\":[{\"a\":[\"]\\\"\"]},{}],\"a\":\"1\"}",
      true, "1", NULL },
    { "escapes", "{\"a\":\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\",\"b\":\"v=0\\r\\n\"}", true,
      "\"\\/\b\f\n\r\tA", "v=0\r\n" },
    { "other scripts", "{\"a\":\"\\u00e9\\u20AC\\uD83D\\uDE00\",\"b\":\"\xc3\xa9\xe2\x82\xac\"}", true,
      "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac" },
    { "keys of inner objects", "{\"x\":{\"a\":\"1\"}}", true, NULL, NULL },
    { "longer and shorter keys", "{\"aa\":\"1\",\"\":\"2\",\"ab\":\"3\"}", true, NULL, NULL },
    { "nothing", "", false, NULL, NULL },
    { "a list", "[]", false, NULL, NULL },
    { "a string", "\"a\"", false, NULL, NULL },
    { "cut", "{", false, NULL, NULL },
    { "cut behind a key", "{\"a\"", false, NULL, NULL },
    { "cut behind a colon", "{\"a\":", false, NULL, NULL },
    { "cut in a string", "{\"a\":\"1", false, NULL, NULL },
    { "cut in an escape", "{\"a\":\"1\\", false, NULL, NULL },
    { "cut behind a string", "{\"a\":\"1\"", false, NULL, NULL },
    { "cut in a list", "{\"a\":\"1\",\"x\":[\"]\"", false, NULL, NULL },
    { "no key", "{1:2}", false, NULL, NULL },
    { "no colon", "{\"a\" \"1\"}", false, NULL, NULL },
    { "no value", "{\"a\":}", false, NULL, NULL },
    { "no comma", "{\"a\":\"1\" \"b\":\"2\"}", false, NULL, NULL },
    { "a comma too many", "{\"a\":\"1\",}", false, NULL, NULL },
    { "more behind it", "{\"a\":\"1\"}x", false, NULL, NULL },
    { "a line feed in a string", "{\"a\":\"1\n\"}", false, NULL, NULL },
    { "no such escape", "{\"a\":\"\\x41\"}", false, NULL, NULL },
    { "a short number", "{\"a\":\"\\u41\"}", false, NULL, NULL },
    { "no number", "{\"a\":\"\\u00g1\"}", false, NULL, NULL },
    { "a zero", "{\"a\":\"\\u0000\"}", false, NULL, NULL },
    { "half a pair", "{\"a\":\"\\uD83D\"}", false, NULL, NULL },
    { "half a pair, and more", "{\"a\":\"\\uD83D\\u0041\"}", false, NULL, NULL },
    { "the other half", "{\"a\":\"\\uDE00\"}", false, NULL, NULL },
    { "no UTF-8", "{\"a\":\"\xff\"}", false, NULL, NULL },
    { "UTF-8 that is cut", "{\"a\":\"\xe2\x82\"}", false, NULL, NULL },
};

static void assert_same(const char *got, const char *want)
{
    assert_int_equal(got != NULL, want != NULL);
    if (got)
        assert_string_equal(got, want);
}

/* A copy that ends where the text ends, so that tools notice a read after it. */
static bool pick(const char *json, size_t size, struct jpick picks[2])
{
    char *copy = malloc(size + !size);
    bool fine;

    assert_non_null(copy);
    memcpy(copy, json, size);
    fine = jpick(copy, size, picks, 2);
    free(copy);
    return fine;
}

static void free_all(struct jpick picks[2])
{
    free(picks[0].text);
    free(picks[1].text);
}

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct jpick picks[] = { { .key = "a" }, { .key = "b" } };
        json_t *whole = json_loads(rows[i].json, 0, NULL);

        print_message("  %s\n", rows[i].name);
        assert_int_equal(pick(rows[i].json, strlen(rows[i].json), picks), rows[i].fine);
        assert_same(picks[0].text, rows[i].a);
        assert_same(picks[1].text, rows[i].b);
        assert_int_equal(json_is_object(whole), rows[i].fine); /* the rows are valid */
        json_decref(whole);
        free_all(picks);
    }
}

/* Every prefix of each text: never more than the parser accepts, and never a read after its end. */
static void test_cut_everywhere(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (size_t n = 0; n < strlen(rows[i].json); n++) {
            struct jpick picks[] = { { .key = "a" }, { .key = "b" } };
            json_t *whole = json_loadb(rows[i].json, n, 0, NULL);

            if (!pick(rows[i].json, n, picks))
                assert_true(!picks[0].text && !picks[1].text);
            else
                assert_true(json_is_object(whole));
            json_decref(whole);
            free_all(picks);
        }
    }
}

/* No recursion: a million levels cost as little as one. */
static void test_deep(void **state)
{
    enum { LEVELS = 1000000 };
    size_t size = 5 + 2 * LEVELS + 9;
    char *json = malloc(size + 1);
    struct jpick picks[] = { { .key = "a" }, { .key = "b" } };

    (void)state;
    assert_non_null(json);
    memcpy(json, "{\"x\":", 5);
    memset(json + 5, '[', LEVELS);
    memset(json + 5 + LEVELS, ']', LEVELS);
    memcpy(json + 5 + 2 * LEVELS, ",\"a\":\"1\"}", 10);
    assert_true(pick(json, size, picks));
    assert_same(picks[0].text, "1");
    free_all(picks);
    free(json);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows), cmocka_unit_test(test_cut_everywhere),
        cmocka_unit_test(test_deep),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
