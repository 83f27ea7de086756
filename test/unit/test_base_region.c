/* SPDX-License-Identifier: MIT */
/* test_base_region.c - objects of one size side by side in memory. */
#include "unit.h"

#include "base/region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { KB = 1024, MB = 1024 * KB };

static void fits(void **state)
{
    static const struct { size_t size, fit; } rows[] = {
        { 0, 4 * KB }, { 1, 4 * KB }, { 4 * KB, 4 * KB }, { 4 * KB + 1, 8 * KB },
        { 64 * KB - 1, 64 * KB }, { 64 * KB + 1, 128 * KB }, { 1 * MB, 1 * MB },
        { 1 * MB + 1, 1 * MB + 4 * KB }, { 16 * MB + 1, 16 * MB + 4 * KB },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++)
        assert_int_equal(region_fit(rows[i].size), rows[i].fit);
}

/* ---- random blocks from a seed, compared with a model */

enum { HELD = 300, TURNS = 20000 };

struct held {
    uint8_t *p;
    size_t size;
    uint8_t mark;
};

static size_t some_size(void)
{
    size_t size = (size_t)4 * KB << rand() % 9;

    return rand() % 50 ? size : region_fit((size_t)MB + (size_t)rand() % (2 * MB));
}

/* One byte of each page, which overlapping blocks would not keep. */
static void write_marks(struct held *h)
{
    for (size_t at = 0; at < h->size; at += 4 * KB)
        h->p[at] = h->mark;
    h->p[h->size - 1] = h->mark;
}

static void check_marks(const struct held *h)
{
    for (size_t at = 0; at < h->size; at += 4 * KB)
        assert_int_equal(h->p[at], h->mark);
    assert_int_equal(h->p[h->size - 1], h->mark);
}

static void take_one(struct held *h, int turn)
{
    *h = (struct held){ .size = some_size(), .mark = (uint8_t)turn };
    h->p = region_take(h->size);
    assert_non_null(h->p);
    assert_int_equal((uintptr_t)h->p % (h->size > MB ? 4 * KB : h->size), 0);
    write_marks(h);
}

static void give_one(struct held *h)
{
    check_marks(h);
    region_give(h->p, h->size);
    h->p = NULL;
}

static void grow_one(struct held *h)
{
    size_t to = region_fit(2 * h->size);
    uint8_t *p = region_grow(h->p, h->size, to);
    struct held before = { p, h->size, h->mark };

    assert_non_null(p);
    check_marks(&before);
    h->p = p;
    h->size = to;
    write_marks(h);
}

static size_t sum_of(const struct held *held)
{
    size_t sum = 0;

    for (int i = 0; i < HELD; i++)
        sum += held[i].p ? held[i].size : 0;
    return sum;
}

static void run_seed(unsigned seed)
{
    struct held held[HELD] = { 0 };

    srand(seed);
    for (int turn = 0; turn < TURNS; turn++) {
        struct held *h = &held[rand() % HELD];

        if (!h->p)
            take_one(h, turn);
        else if (rand() % 8 == 0 && h->size < 4 * MB)
            grow_one(h);
        else
            give_one(h);
        if (turn % 1000 == 0)
            region_sweep();
        if (turn % 5 == 0)
            (void)region_sweep_step();
        assert_int_equal(region_stat().used, sum_of(held));
    }
    for (int i = 0; i < HELD; i++) {
        if (held[i].p)
            give_one(&held[i]);
    }
    assert_int_equal(region_stat().used, 0);
    assert_int_equal(region_stat().idle, region_stat().regions);
}

static void blocks_keep_what_is_written(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 5; seed++)
        run_seed(seed);
    (void)region_free_idle(SIZE_MAX);
    assert_int_equal(region_stat().regions, 0);
}

/* ---- back to the system */

static void sweep(void)
{
    region_sweep();
    while (region_sweep_step()) {
    }
}

static void idle_regions_go_after_a_while(void **state)
{
    enum { N = 20 };
    void *p[N];

    (void)state;
    for (int i = 0; i < N; i++)
        p[i] = region_take(MB);
    assert_int_equal(region_stat().regions, N); /* each has a header, so no two of them fit */
    for (int i = 0; i < N; i++)
        region_give(p[i], MB);
    sweep(); /* they were in use until now */
    assert_int_equal(region_stat().idle, N);
    p[0] = region_take(MB);
    region_give(p[0], MB); /* so one was needed */
    sweep();
    assert_int_equal(region_stat().regions, 1);
    sweep();
    assert_int_equal(region_stat().regions, 0);
}

static size_t resident(uint8_t *p, size_t size)
{
    unsigned char pages[MB / (4 * KB)];
    size_t n = 0;

    assert_int_equal(mincore(p, size, pages), 0);
    for (size_t i = 0; i < size / (4 * KB); i++)
        n += pages[i] & 1;
    return n;
}

/* The rest of a region with one small block is returned to the system. */
static void free_blocks_of_a_region_go(void **state)
{
    uint8_t *large, *small;

    (void)state;
    small = region_take(4 * KB);
    large = region_take(512 * KB);
    memset(small, 1, 4 * KB);
    memset(large, 1, 512 * KB);
    region_give(large, 512 * KB);
    sweep(); /* something was allocated from it since the last one */
    assert_int_equal(resident(large, 512 * KB), 128);
    sweep();
    assert_int_equal(resident(large, 512 * KB), 0);
    assert_int_equal(small[0], 1);
    region_give(small, 4 * KB);
    (void)region_free_idle(SIZE_MAX);
}

static void blocks_fill_the_fullest_region(void **state)
{
    void *full, *fuller, *first;

    (void)state;
    full = region_take(MB);       /* one region with 1 MB less a page left */
    fuller = region_take(512 * KB);
    first = region_take(256 * KB); /* and now the same one has 128 KB and less */
    assert_int_equal(region_stat().regions, 1);
    region_give(full, MB);
    full = region_take(64 * KB);
    assert_int_equal(region_stat().regions, 1);
    region_give(full, 64 * KB);
    region_give(fuller, 512 * KB);
    region_give(first, 256 * KB);
    assert_int_equal(region_stat().idle, 1);
    (void)region_free_idle(SIZE_MAX);
}

static size_t address_space(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    unsigned long pages = 0;

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%lu", &pages), 1);
    (void)fclose(f);
    return pages * 4 * KB;
}

/* A process at its limit: NULL, and existing memory stays valid. */
static void refuses_without_memory(void **state)
{
    void *held[64];
    uint8_t *large;
    struct rlimit before, little;
    int n = 0;

#if defined(__SANITIZE_ADDRESS__)
    skip();
#endif
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    large = region_take(2 * MB);
    memset(large, 7, 2 * MB);
    little = before;
    little.rlim_cur = address_space() + 40 * MB;
    assert_int_equal(setrlimit(RLIMIT_AS, &little), 0);
    while (n < 64 && (held[n] = region_take(MB)))
        n++;
    assert_in_range(n, 8, 30);
    assert_null(region_take(8 * MB));
    assert_null(region_grow(large, 2 * MB, 64 * MB));
    assert_int_equal(large[2 * MB - 1], 7);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    region_give(large, 2 * MB);
    while (n > 0)
        region_give(held[--n], MB);
    large = region_take(8 * MB);
    assert_non_null(large);
    region_give(large, 8 * MB);
    (void)region_free_idle(SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(fits),
        TEST(blocks_keep_what_is_written),
        TEST(idle_regions_go_after_a_while),
        TEST(free_blocks_of_a_region_go),
        TEST(blocks_fill_the_fullest_region),
        TEST(refuses_without_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
