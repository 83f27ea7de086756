/* SPDX-License-Identifier: MIT */
/* test_base_text.c - strings: NULL for none, and their hash. */
#include "unit.h"

#include "base/ip.h"
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

/* Two texts in a row have the same hash, and none of the others. */
static void customers(void **state)
{
    static const char *const rows[][2] = {
        { "192.0.2.7", "::ffff:192.0.2.7" }, { "192.0.2.8", "192.0.2.8" },
        { "2001:db8:1:2::1", "2001:db8:1:2:ffff::9" }, { "2001:db8:1:3::1", "2001:db8:1:3::" },
        { "fe80::1%eth0", "fe80::2" }, { NULL, "no address" },
    };
    uint8_t v[COUNT(rows)][2][IP_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        ip_customer(rows[i][0], v[i][0]);
        ip_customer(rows[i][1], v[i][1]);
        assert_memory_equal(v[i][0], v[i][1], IP_SIZE);
        for (size_t k = 0; k < i; k++)
            assert_memory_not_equal(v[i][0], v[k][0], IP_SIZE);
    }
}

/* Some of the test vectors published by the authors of FNV. */
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

/* Typical stream names fill a table evenly: 16 per bucket, 4 standard deviations are 16. */
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

/* Names that a peer chose so that FNV-1a puts all of them into one bucket are spread like others. */
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
        TEST(customers),
        TEST(hash_is_fnv_1a),
        TEST(names_fill_a_table),
        TEST(chosen_names_fill_a_table),
    };

    return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
