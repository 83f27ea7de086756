/* SPDX-License-Identifier: MIT */
/* test_base_table.c - hash table: find, count, walk and remove while it grows. */
#include "base/container_of.h"
#include "base/table.h"
#include "unit.h"

enum { MANY = 1000 };

struct thing {
    unsigned number;
    struct table_link link;
};

/* Two elements have each hash. */
static unsigned found(const struct table *t, uint64_t hash)
{
    unsigned n = 0;

    for (struct table_link *l = NULL; (l = table_find(t, hash, l)); n++)
        assert_int_equal(container_of(l, struct thing, link)->number / 2, hash);
    return n;
}

static unsigned walked(const struct table *t)
{
    unsigned n = 0;

    for (struct table_link *l = NULL; (l = table_next(t, l));)
        n++;
    return n;
}

static void things_are_found_by_their_hashes(void **state)
{
    static struct thing v[MANY];
    struct table t = { 0 };

    (void)state;
    assert_int_equal(found(&t, 1) + walked(&t), 0);
    assert_false(table_remove(&t, &v[0].link));
    for (unsigned i = 0; i < MANY; i++) {
        v[i].number = i;
        table_put(&t, &v[i].link, i / 2);
        assert_int_equal(found(&t, i / 2), i % 2 + 1);
    }
    assert_int_equal(t.n, MANY);
    assert_int_equal(walked(&t), MANY);
    for (unsigned i = 0; i < MANY; i += 2) {
        assert_true(table_remove(&t, &v[i].link));
        assert_false(table_remove(&t, &v[i].link));
        assert_int_equal(found(&t, i / 2), 1);
    }
    assert_int_equal(walked(&t), MANY / 2);
    table_free(&t);
    assert_int_equal(walked(&t), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(things_are_found_by_their_hashes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
