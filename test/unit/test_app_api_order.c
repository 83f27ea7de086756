/* SPDX-License-Identifier: MIT */
/* test_app_api_order.c - sorted lists: the rows of a page are those of the whole sorted list. */
#include "app/api/order.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 500 };

static struct order_row all[ROWS];
static char names[ROWS][8];
static const struct order *way;

static void fill(unsigned seed)
{
    for (unsigned i = 0; i < ROWS; i++) {
        seed = seed * 1103515245 + 12345;
        (void)snprintf(names[i], sizeof(names[i]), "n%u", seed >> 16 & 1023);
        all[i] = (struct order_row){ .key = (int64_t)(seed >> 20 & 63) - 20, .id = i,
                                     .text = names[i], .group = seed >> 28 & 1 };
    }
}

/* The same order, written differently. */
static int by_rules(const void *left, const void *right)
{
    const struct order_row *a = left, *b = right;
    int text = strcmp(a->text, b->text);

    if (a->group != b->group)
        return (int)a->group - (int)b->group;
    if (a->key != b->key)
        return way->down ? (b->key > a->key) - (b->key < a->key)
                         : (a->key > b->key) - (a->key < b->key);
    if (text)
        return way->down && way->by_text ? -text : text;
    return (a->id > b->id) - (a->id < b->id);
}

static void check(bool down, bool by_text, size_t most)
{
    struct order o = { .down = down, .by_text = by_text, .most = most };
    static struct order_row sorted[ROWS];

    fill(7 + (unsigned)most);
    for (size_t i = 0; by_text && i < ROWS; i++)
        all[i].key = 0;
    for (size_t i = 0; i < ROWS; i++)
        order_add(&o, &all[i]);
    order_end(&o);
    memcpy(sorted, all, sizeof(all));
    way = &o;
    qsort(sorted, ROWS, sizeof(sorted[0]), by_rules);
    assert_int_equal(o.n, most < ROWS ? most : ROWS);
    for (size_t i = 0; i < o.n; i++)
        assert_int_equal(o.v[i].id, sorted[i].id);
    order_free(&o);
}

static void test_pages(void **state)
{
    static const size_t sizes[] = { 0, 1, 2, 50, 63, 64, 65, 128, 129, 499, 500, 501, 100000 };

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        check(false, false, sizes[i]);
        check(true, false, sizes[i]);
        check(true, true, sizes[i]);
    }
}

static void test_find(void **state)
{
    struct order o = { .by = -1 };
    const char *texts[] = { "live/Camera", "10.0.0.7" };

    (void)state;
    assert_true(order_finds(&o, texts, 2));
    (void)snprintf(o.find, sizeof(o.find), "CAM");
    assert_true(order_finds(&o, texts, 2));
    assert_false(order_finds(&o, texts + 1, 1));
    (void)snprintf(o.find, sizeof(o.find), "0.7");
    assert_true(order_finds(&o, texts, 2));
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_pages), TEST(test_find) };

    assert_ok(co_init());
    return cmocka_run_group_tests(tests, NULL, NULL);
}
