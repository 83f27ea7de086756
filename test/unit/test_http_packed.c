/* SPDX-License-Identifier: MIT */
/* test_http_packed.c - texts of files, compressed once. */
#include "co/co.h"
#include "co/thread.h"
#include "serve/http/packed.h"
#include "temp_dir.h"
#include "unit.h"

#include <string.h>

enum { SIZE = 100000 };

static void put(const char *name, size_t size, bool noise)
{
    char path[64];
    uint32_t x = 1;
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "wb");
    assert_non_null(f);
    for (size_t i = 0; i < size; i++) {
        x = x * 1664525 + 1013904223;
        (void)fputc(noise ? (int)(x >> 24) : 'a' + (int)(x >> 31), f);
    }
    assert_int_equal(fclose(f), 0);
}

static struct http_packed *get(struct http_packs *packs, const char *name)
{
    struct co_file f;
    struct http_packed *p;

    assert_ok(co_file_open(&f, dir, name));
    assert_ok(http_packed_get(packs, &f, &p));
    co_file_close(&f);
    return p;
}

static void test_once(void **state)
{
    struct http_packs *packs = http_packs_new(1 << 20);
    struct http_packed *one, *two, *three;

    (void)state;
    put("a.js", SIZE, false);
    one = get(packs, "a.js");
    two = get(packs, "a.js");
    assert_non_null(one);
    assert_ptr_equal(one, two); /* the same bytes */
    assert_true(one->size < SIZE / 4);
    put("a.js", SIZE + 1, false); /* another file */
    three = get(packs, "a.js");
    assert_non_null(three);
    assert_ptr_not_equal(one, three);
    put("noise.js", SIZE, true);
    assert_null(get(packs, "noise.js")); /* compression does not make it smaller, which is remembered */
    assert_null(get(packs, "noise.js"));
    assert_null(get(NULL, "a.js"));
    http_packs_free(packs);
    assert_int_equal(one->data[0], 0x1f); /* its user keeps it */
    (void)http_packed_unref(one);
    (void)http_packed_unref(two);
    (void)http_packed_unref(three);
}

static void test_bounds(void **state)
{
    struct http_packs *packs;
    struct http_packed *one, *again;
    size_t size;

    (void)state;
    put("a.js", SIZE, false);
    put("b.js", SIZE, false);
    packs = http_packs_new(1 << 20);
    one = get(packs, "a.js");
    size = one->size;
    (void)http_packed_unref(one);
    http_packs_free(packs);
    packs = http_packs_new(size + size / 2); /* for one of them */
    one = get(packs, "a.js");
    (void)http_packed_unref(get(packs, "b.js"));
    again = get(packs, "a.js");
    assert_ptr_not_equal(one, again);
    (void)http_packed_unref(one);
    (void)http_packed_unref(again);
    http_packs_free(packs);
    packs = http_packs_new(size - 1); /* for none */
    one = get(packs, "a.js");
    assert_non_null(one);
    (void)http_packed_unref(one);
    http_packs_free(packs);
}

struct crowd {
    struct http_packs *packs;
    unsigned packed, plain;
};

static err_t ask(void *arg)
{
    struct crowd *c = arg;
    struct http_packed *p = get(c->packs, "a.js");

    c->packed += p != NULL;
    c->plain += p == NULL;
    (void)http_packed_unref(p);
    return NULL;
}

/* Many at once: one waits for a thread, the others do not wait. */
static void test_crowd(void **state)
{
    struct crowd c = { .packs = http_packs_new(1 << 20) };
    struct co_group g;

    (void)state;
    put("a.js", SIZE * 10, false);
    co_group_init(&g);
    for (int i = 0; i < 20; i++)
        assert_ok(co_go(&g, "ask", ask, &c));
    assert_ok(co_group_wait(&g));
    assert_int_equal(c.packed + c.plain, 20);
    assert_true(c.packed >= 1 && c.plain >= 1);
    http_packs_free(c.packs);
}

static int set_up(void **state)
{
    err_t err = co_init();

    err_free(&err);
    return dir_make(state);
}

static int clean_up(void **state)
{
    co_threads_end(CO_SECONDS(5));
    return dir_remove(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_once), TEST(test_bounds), TEST(test_crowd) };

    return cmocka_run_group_tests(tests, set_up, clean_up);
}
