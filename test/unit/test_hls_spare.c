/* SPDX-License-Identifier: MIT */
/* test_hls_spare.c - buffers that segments take over from each other. */
#include "unit.h"

#include "sink/hls_spare.h"

#include <stdlib.h>

enum { KB = 1024 };

static uint8_t *filled(size_t size)
{
    uint8_t *buf = malloc(size);

    assert_non_null(buf);
    return buf;
}

static void test_fits(void **state)
{
    struct hls_spares *p = hls_spares_new();
    uint8_t *small = filled(100 * KB), *large = filled(300 * KB);
    struct wr a, b, c;

    (void)state;
    wr_init(&a, 1 << 20);
    wr_init(&b, 1 << 20);
    wr_init(&c, 1 << 20);
    hls_spare_give(p, large, 300 * KB);
    hls_spare_give(p, small, 100 * KB);
    hls_spare_take(p, &a, 90 * KB); /* the smallest that is large enough */
    assert_ptr_equal(a.buf, small);
    assert_int_equal(a.cap, 100 * KB);
    hls_spare_take(p, &b, 60 * KB); /* what is left is for larger ones */
    assert_ptr_not_equal(b.buf, large);
    assert_true(b.cap >= 60 * KB);
    hls_spare_take(p, &c, 200 * KB);
    assert_ptr_equal(c.buf, large);
    assert_int_equal(p->n, 0);
    assert_int_equal(p->bytes, 0);
    wr_free(&a);
    wr_free(&b);
    wr_free(&c);
    assert_null(hls_spares_unref(p));
}

static void test_bounds(void **state)
{
    struct hls_spares *p = hls_spares_ref(hls_spares_new());

    (void)state;
    hls_spare_give(p, filled(KB), KB); /* malloc is good at these */
    assert_int_equal(p->n, 0);
    for (int i = 0; i < 2 * HLS_SPARES; i++)
        hls_spare_give(p, filled(HLS_SPARE_LEAST), HLS_SPARE_LEAST);
    assert_int_equal(p->n, HLS_SPARES);
    hls_spare_give(p, filled(HLS_SPARE_BYTES), HLS_SPARE_BYTES);
    assert_true(p->bytes <= HLS_SPARE_BYTES);
    assert_null(hls_spares_unref(p));
    assert_null(hls_spares_unref(p)); /* the last one frees what is there */
}

/* Those that nobody needs for a while go; those that are taken and given stay. */
static void test_sweep(void **state)
{
    struct hls_spares *p = hls_spares_new();
    struct wr w;

    (void)state;
    for (int i = 0; i < 3; i++)
        hls_spare_give(p, filled(100 * KB), 100 * KB);
    p->sweep.fn(&p->sweep); /* all came since the last time */
    assert_int_equal(p->n, 3);
    wr_init(&w, 1 << 20);
    hls_spare_take(p, &w, 100 * KB);
    hls_spare_give(p, w.buf, w.cap);
    p->sweep.fn(&p->sweep);
    assert_int_equal(p->n, 1);
    p->sweep.fn(&p->sweep);
    assert_int_equal(p->n, 0);
    assert_int_equal(p->bytes, 0);
    assert_null(hls_spares_unref(p));
}

static int setup(void **state)
{
    err_t err = co_init();

    (void)state;
    err_free(&err);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_fits), TEST(test_bounds), TEST(test_sweep) };

    return cmocka_run_group_tests(tests, setup, NULL);
}
