/* SPDX-License-Identifier: MIT */
/* test_base_bump.c - many small objects in few blocks of memory. */
#include "unit.h"

#include "base/bump.h"
#include "base/region.h"

#include <stdlib.h>
#include <string.h>

enum { KB = 1024, MB = 1024 * KB };

static void pieces_stand_one_behind_the_other(void **state)
{
    size_t idle = 0;
    struct bump *b = bump_new(&idle);
    uint8_t *a, *c, *d;

    (void)state;
    assert_int_equal(region_stat().used, 0);
    a = bump_try(b, 100);
    c = bump_try(b, 1);
    assert_true(c > a && c < a + 128);
    assert_int_equal((uintptr_t)c % 8, 0);
    assert_int_equal(region_stat().used, 4 * KB); /* few objects need little memory */
    assert_in_range(idle, 3 * KB, 4 * KB);
    bump_free(a);
    bump_free(c);
    assert_int_equal(idle, 4 * KB);
    d = bump_try(b, 50);
    assert_ptr_equal(d, a); /* the block started again */
    bump_free(d);
    (void)bump_close(b);
    assert_int_equal(idle, 0);
    assert_int_equal(region_stat().used, 0);
}

static void pieces_outlive_their_owner(void **state)
{
    size_t idle = 0;
    struct bump *b = bump_new(&idle);
    uint8_t *a = bump_try(b, 3000), *c = bump_try(b, 3000), *large = bump_try(b, 3 * MB);

    (void)state;
    memset(a, 1, 3000);
    memset(c, 2, 3000);
    large[3 * MB - 1] = 3;
    assert_null(bump_close(b));
    assert_int_equal(idle, 0);
    assert_true(a[2999] == 1 && c[2999] == 2 && large[3 * MB - 1] == 3);
    bump_free(a);
    bump_free(large);
    bump_free(c);
    assert_int_equal(idle, 0);
    assert_int_equal(region_stat().used, 0);
}

static void without_an_owner_it_is_malloc(void **state)
{
    uint8_t *p = bump_try(NULL, 10);

    (void)state;
    memcpy(p, "0123456789", 10);
    p = bump_grow(p, 200000);
    assert_memory_equal(p, "0123456789", 10);
    assert_int_equal(region_stat().used, 0);
    bump_free(p);
    assert_null(bump_close(NULL));
}

/* A message that grows in many steps is not copied while it is the newest object. */
static void the_newest_piece_grows_in_its_place(void **state)
{
    struct bump *b = bump_new(NULL);
    uint8_t *first = bump_try(b, 40), *p = bump_try(b, 100), *behind, *moved;

    (void)state;
    memset(p, 9, 100);
    assert_ptr_equal(bump_grow(p, 2000), p);
    behind = bump_try(b, 8);
    moved = bump_grow(p, 2100);
    assert_ptr_not_equal(moved, p);
    assert_int_equal(moved[99], 9);
    bump_free(first);
    bump_free(behind);
    bump_free(moved);
    (void)bump_close(b);
    assert_int_equal(region_stat().used, 0);
}

static void a_large_piece_grows(void **state)
{
    struct bump *b = bump_new(NULL);
    size_t size = 1000;
    uint8_t *p = bump_try(b, size);

    (void)state;
    memset(p, 1, size);
    for (; size < 16 * MB; size *= 2) {
        p = bump_grow(p, 2 * size);
        assert_non_null(p);
        assert_int_equal(p[size - 1], 1);
        memset(p, 1, 2 * size);
    }
    assert_in_range(region_stat().used, size, size + 300 * KB);
    bump_free(p);
    (void)bump_close(b);
    assert_int_equal(region_stat().used, 0);
}

/* A user that keeps one small piece of each block wastes little more than it uses. */
static void old_pieces_hold_little_back(void **state)
{
    enum { LEFT = 200, SIZE = 1000, LOG = 300 };
    size_t idle = 0;
    struct bump *b = bump_new(&idle);
    uint8_t *left[LEFT], *log[LOG];
    unsigned n = 0;

    (void)state;
    for (unsigned i = 0; i < LOG; i++)
        log[i] = bump_try(b, SIZE);
    for (unsigned round = 0; n < LEFT; round++) {
        left[n++] = bump_try(b, 1);
        for (unsigned i = 0; i < LOG; i++) {
            bump_free(log[i]);
            log[i] = bump_try(b, SIZE);
        }
    }
    assert_in_range(idle, 0, LOG * SIZE + LEFT * 4 * KB + 256 * KB);
    for (unsigned i = 0; i < LOG; i++)
        bump_free(log[i]);
    for (unsigned i = 0; i < LEFT; i++)
        bump_free(left[i]);
    (void)bump_close(b);
    assert_int_equal(idle, 0);
    assert_int_equal(region_stat().used, 0);
}

/* A stream whose pieces are freed in order has little unused space. */
static void little_is_idle(void **state)
{
    static const struct { size_t size; unsigned log; size_t idle; } rows[] = {
        { 100, 10, 8 * KB }, { 300, 40, 8 * KB }, { 1500, 200, 96 * KB }, { 30000, 60, 640 * KB },
        { 90000, 60, 2500 * KB },
    };

    (void)state;
    for (size_t k = 0; k < COUNT(rows); k++) {
        size_t idle = 0, most = 0;
        struct bump *b = bump_new(&idle);
        void *log[200] = { 0 };

        for (unsigned i = 0; i < 10 * rows[k].log; i++) {
            void **at = &log[i % rows[k].log];

            if (*at)
                bump_free(*at);
            *at = bump_try(b, rows[k].size - rows[k].size / 3 * (i % 3));
            most = idle > most ? idle : most;
        }
        assert_in_range(most, 0, rows[k].idle);
        for (unsigned i = 0; i < rows[k].log; i++)
            bump_free(log[i]);
        (void)bump_close(b);
    }
    assert_int_equal(region_stat().used, 0);
}

/* Space at the end of a block too small for the next large object is not lost. */
static void small_pieces_fill_what_is_left(void **state)
{
    size_t idle = 0;
    struct bump *b = bump_new(&idle);
    uint8_t *first = bump_try(b, 3000), *large = bump_try(b, 2900), *small[4];

    (void)state;
    assert_int_equal(region_stat().used, 8 * KB);
    for (unsigned i = 0; i < COUNT(small); i++) {
        small[i] = bump_try(b, 232);
        assert_ptr_equal(small[i], first + 3008 + i * 240);
        memset(small[i], (int)i, 232);
    }
    bump_free(first);
    assert_int_equal(region_stat().used, 8 * KB);
    for (unsigned i = 0; i < COUNT(small); i++) {
        assert_int_equal(small[i][0] + small[i][231], 2 * i);
        bump_free(small[i]);
    }
    assert_int_equal(region_stat().used, 4 * KB); /* nothing more is allocated in that one */
    small[0] = bump_try(b, 232);
    assert_ptr_equal(small[0], large + 2912);
    bump_free(small[0]);
    bump_free(large);
    (void)bump_close(b);
    assert_int_equal(idle, 0);
    assert_int_equal(region_stat().used, 0);
}

/* All packets of a stream are freed at once, repeatedly: blocks keep their size. */
static void groups_of_pieces_leave_little_idle(void **state)
{
    enum { GROUP = 180, SIZE = 1316 };
    size_t idle = 0, most = 0;
    struct bump *b = bump_new(&idle);
    void *group[GROUP];

    (void)state;
    for (unsigned round = 0; round < 8; round++) {
        for (unsigned i = 0; i < GROUP; i++)
            group[i] = bump_try(b, SIZE - i % 3 * 188);
        most = round > 0 && idle > most ? idle : most;
        for (unsigned i = 0; i < GROUP; i++)
            bump_free(group[i]);
    }
    assert_in_range(most, 0, GROUP * SIZE / 12);
    (void)bump_close(b);
    assert_int_equal(idle, 0);
}

/* ---- random, from a seed */

enum { HELD = 250, OWNERS = 3, TURNS = 30000 };

struct held {
    uint8_t *p;
    size_t size;
    uint8_t mark;
};

static void check(const struct held *h, size_t size)
{
    assert_int_equal(h->p[0], h->mark);
    assert_int_equal(h->p[size / 2], h->mark);
    assert_int_equal(h->p[size - 1], h->mark);
}

static void turn_of(struct held *h, struct bump *b, int turn)
{
    static const size_t scale[] = { 64, 500, 5000, 50000, 3 * MB };
    size_t most = scale[rand() % 200 ? rand() % 4 : 4];

    if (!h->p) {
        *h = (struct held){ .size = 1 + (size_t)rand() % most, .mark = (uint8_t)turn };
        h->p = bump_try(b, h->size);
    } else if (rand() % 4 == 0 && h->size < MB) {
        check(h, h->size);
        h->p = bump_grow(h->p, 2 * h->size);
        check(h, h->size);
        h->size *= 2;
    } else {
        check(h, h->size);
        bump_free(h->p);
        h->p = NULL;
        return;
    }
    memset(h->p, h->mark, h->size);
}

static void run_seed(unsigned seed)
{
    struct held held[HELD] = { 0 };
    struct bump *owners[OWNERS];
    size_t idle = 0;

    srand(seed);
    for (int i = 0; i < OWNERS; i++)
        owners[i] = bump_new(&idle);
    for (int turn = 0; turn < TURNS; turn++) {
        size_t bytes = 0;
        int i = rand() % HELD;

        turn_of(&held[i], i % 7 ? owners[i % OWNERS] : NULL, turn);
        if (turn % 3000 == 0) {
            (void)bump_close(owners[turn / 3000 % OWNERS]);
            owners[turn / 3000 % OWNERS] = bump_new(&idle);
        }
        for (int k = 0; k < HELD; k++)
            bytes += held[k].p && k % 7 ? held[k].size : 0;
        assert_in_range(idle, 0, region_stat().used);
        assert_true(region_stat().used >= bytes);
    }
    for (int i = 0; i < OWNERS; i++)
        (void)bump_close(owners[i]);
    for (int i = 0; i < HELD; i++) {
        if (held[i].p)
            bump_free(held[i].p);
    }
    assert_int_equal(idle, 0);
    assert_int_equal(region_stat().used, 0);
}

static void pieces_keep_what_is_written(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 4; seed++)
        run_seed(seed);
    (void)region_free_idle(SIZE_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(pieces_stand_one_behind_the_other),
        TEST(pieces_outlive_their_owner),
        TEST(without_an_owner_it_is_malloc),
        TEST(the_newest_piece_grows_in_its_place),
        TEST(a_large_piece_grows),
        TEST(old_pieces_hold_little_back),
        TEST(little_is_idle),
        TEST(small_pieces_fill_what_is_left),
        TEST(groups_of_pieces_leave_little_idle),
        TEST(pieces_keep_what_is_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
