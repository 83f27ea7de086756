/* SPDX-License-Identifier: MIT */
/* Strings: NULL for none, and their hash. */
#include "unit.h"

#include "base/text.h"

#include <stdio.h>

static void none_is_empty(void **state)
{
    static const char some[] = "some";

    (void)state;
    assert_string_equal(text_or_empty(NULL), "");
    assert_string_equal(text_or_empty(""), "");
    assert_ptr_equal(text_or_empty(some), some);
}

/* Of the test vectors that the authors of FNV publish. */
static void hash_is_fnv_1a(void **state)
{
    static const struct {
        const char *text;
        uint64_t hash;
    } rows[] = {
        { "", UINT64_C(0xcbf29ce484222325) },
        { "a", UINT64_C(0xaf63dc4c8601ec8c) },
        { "foobar", UINT64_C(0x85944171f73967e8) },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        size_t n = strlen(rows[i].text);
        uint64_t hash = text_hash_more(TEXT_HASH_BEGIN, rows[i].text, n);

        assert_true(hash == rows[i].hash);
        for (size_t cut = 0; cut <= n; cut++) { /* in two pieces it is the same */
            hash = text_hash_more(TEXT_HASH_BEGIN, rows[i].text, cut);
            assert_true(text_hash_more(hash, rows[i].text + cut, n - cut) == rows[i].hash);
        }
    }
}

/* Names as streams have them fill a table evenly: 16 to a place, 4 standard deviations are 16. */
static void names_fill_a_table(void **state)
{
    unsigned places[1024] = { 0 };
    char name[64];

    (void)state;
    for (unsigned i = 0; i < 16 * COUNT(places); i++) {
        (void)snprintf(name, sizeof(name), "__defaultVhost__/live/stream%u", i);
        places[text_hash(name) % COUNT(places)]++;
    }
    for (size_t i = 0; i < COUNT(places); i++)
        assert_in_range(places[i], 1, 36);
}

/* Names that a peer chose so that FNV-1a puts all of them into one place are spread like others. */
static void chosen_names_fill_a_table(void **state)
{
    unsigned places[64] = { 0 }, chosen = 0;
    char name[64];

    (void)state;
    for (unsigned i = 0; chosen < 16 * COUNT(places); i++) {
        uint64_t hash;

        (void)snprintf(name, sizeof(name), "__defaultVhost__/live/stream%u", i);
        hash = text_hash_more(TEXT_HASH_BEGIN, name, strlen(name));
        if (((hash ^ hash >> 32) & (COUNT(places) - 1)) != 0)
            continue;
        places[text_hash(name) % COUNT(places)]++;
        chosen++;
    }
    for (size_t i = 0; i < COUNT(places); i++)
        assert_in_range(places[i], 1, 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(none_is_empty),
        TEST(hash_is_fnv_1a),
        TEST(names_fill_a_table),
        TEST(chosen_names_fill_a_table),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
