/* SPDX-License-Identifier: MIT */
/* test_base_blocks.c - bytes stored in blocks come back unchanged, regardless of the block size. */
#include "base/blocks.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { LIMIT = 1 << 20, TOTAL = 300000 };

static uint8_t byte_at(size_t i)
{
    return (uint8_t)(i * 7 + i / 251);
}

static uint8_t *pattern(void)
{
    uint8_t *p = malloc(TOTAL);

    assert_non_null(p);
    for (size_t i = 0; i < TOTAL; i++)
        p[i] = byte_at(i);
    return p;
}

/* `size` bytes of the pattern from byte `from` on. */
static void check(struct blocks *b, size_t from, size_t size)
{
    size_t at = from, memory = 0;

    assert_int_equal(blocks_len(b), size);
    for (const struct block *p = blocks_begin(b); p; p = p->next) {
        assert_true(p->len <= p->cap);
        memory += sizeof(*p) + p->cap;
        for (size_t i = 0; i < p->len; i++)
            assert_int_equal(p->data[i], byte_at(at++));
    }
    assert_int_equal(at, from + size);
    assert_int_equal(memory, b->memory);
}

/* Pieces of all sizes, some of them contiguous. */
static void test_write(void **state)
{
    static const size_t sizes[] = { 1, 188, 1000, BLOCK_SIZE - 1, BLOCK_SIZE, BLOCK_SIZE + 1, TOTAL };
    uint8_t *all = pattern();

    (void)state;
    for (size_t k = 0; k < 2 * COUNT(sizes); k++) {
        size_t size = sizes[k / 2], used = 0;
        struct block_pool shop = { .most = 2, .used = &used };
        struct blocks b;

        blocks_init(&b, LIMIT, &shop);
        for (size_t at = 0; at < TOTAL; at += size) {
            size_t n = TOTAL - at < size ? TOTAL - at : size;

            if (k % 2 == 0) {
                wr_bytes(&b.w, all + at, n);
                continue;
            }
            memcpy(wr_reserve(&b.w, n), all + at, n);
            b.w.len += n;
        }
        assert_int_equal(b.w.bad, ERR_OK);
        check(&b, 0, TOTAL);
        assert_int_equal(used, b.memory);
        assert_in_range(used, TOTAL, TOTAL + 3 * BLOCK_SIZE);
        blocks_free(&b);
        assert_int_equal(used, 0);
        assert_true(shop.n <= 2);
        block_pool_free(&shop);
    }
    free(all);
}

static void test_limit(void **state)
{
    static const size_t limits[] = { 0, 1, 5000, BLOCK_SIZE, BLOCK_SIZE + 1, TOTAL - 1 };
    uint8_t *all = pattern();

    (void)state;
    for (size_t i = 0; i < COUNT(limits); i++) {
        struct blocks b;

        blocks_init(&b, limits[i], NULL);
        wr_bytes(&b.w, all, limits[i] / 2);
        wr_bytes(&b.w, all + limits[i] / 2, limits[i] - limits[i] / 2);
        assert_int_equal(b.w.bad, ERR_OK);
        wr_bytes(&b.w, all, 1);
        assert_int_equal(b.w.bad, ERR_TOO_LARGE);
        blocks_cut(&b, limits[i] / 3); /* unchanged since before a piece that did not fit */
        assert_int_equal(b.w.bad, ERR_OK);
        check(&b, 0, limits[i] / 3);
        wr_bytes(&b.w, all + limits[i] / 3, limits[i] - limits[i] / 3);
        check(&b, 0, limits[i]);
        blocks_free(&b);
        blocks_free(&b); /* it is empty, not released */
    }
    free(all);
}

/* Appends the content of one to another; large blocks are not copied. */
static void test_move(void **state)
{
    static const size_t sizes[] = { 0, 1, 10, 5000, BLOCK_SIZE, 3 * BLOCK_SIZE + 5 };
    uint8_t *all = pattern();

    (void)state;
    for (size_t i = 0; i < COUNT(sizes) * COUNT(sizes); i++) {
        size_t n = sizes[i % COUNT(sizes)], k = sizes[i / COUNT(sizes)] / 2;
        struct blocks to, from, copy, taken;
        const struct block *moved;

        blocks_init(&to, LIMIT, NULL);
        blocks_init(&from, LIMIT, NULL);
        blocks_init(&copy, LIMIT, NULL);
        wr_bytes(&to.w, all, n);
        memcpy(wr_reserve(&from.w, k + 1), all + n, k);
        from.w.len += k;
        moved = from.first;
        blocks_move(&to, &from);
        assert_null(blocks_begin(&from));
        assert_int_equal(to.last == moved, k > BLOCK_SIZE / 2);
        check(&from, 0, 0);
        wr_bytes(&from.w, all, 1); /* it can be used again */
        check(&from, 0, 1);
        check(&to, 0, n + k);
        wr_bytes(&to.w, all + n + k, 1000); /* and writes continue after it */
        check(&to, 0, n + k + 1000);
        blocks_copy(&copy, &to, n);
        check(&copy, n, k + 1000);
        taken = blocks_take(&to);
        check(&to, 0, 0);
        check(&taken, 0, n + k + 1000);
        blocks_free(&to);
        blocks_free(&from);
        blocks_free(&copy);
        blocks_free(&taken);
    }
    free(all);
}

/* Used blocks are reused; those unused for a while are freed. */
static void test_shop(void **state)
{
    size_t used = 0;
    struct block_pool shop = { .most = 4, .used = &used };
    const struct block *first;
    uint8_t *all = pattern();
    struct blocks b;

    (void)state;
    blocks_init(&b, LIMIT, &shop);
    wr_bytes(&b.w, all, TOTAL);
    blocks_free(&b);
    assert_in_range(shop.n, 2, 4);
    first = shop.first;
    wr_bytes(&b.w, all, 10);
    assert_ptr_equal(b.first, first); /* large ones are freed at once */
    assert_int_equal(used, b.memory);
    blocks_uncount(&b);
    assert_int_equal(used, 0);
    blocks_free(&b);
    shop.least = 1;
    used = shop.n;
    block_pool_sweep(&shop);
    assert_int_equal(shop.n, used - 1);
    block_pool_sweep(&shop);
    assert_int_equal(shop.n, 0);
    free(all);
}

/* Unused space of a block is returned, and can be written as before. */
static void test_fit(void **state)
{
    static const size_t sizes[] = { 0, 1, 100, 2047, 2048, 2049, 4096, 5000, BLOCK_SIZE, TOTAL };
    uint8_t *all = pattern();

    (void)state;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t used = 0, before;
        struct block_pool shop = { .most = 2, .used = &used };
        struct blocks b;

        blocks_init(&b, LIMIT, &shop);
        wr_bytes(&b.w, all, sizes[i]);
        before = b.memory;
        blocks_fit(&b);
        check(&b, 0, sizes[i]);
        assert_int_equal(used, b.memory);
        assert_int_equal(b.memory < before, sizes[i] > 0 && sizes[i] <= 2048);
        wr_bytes(&b.w, all + sizes[i], TOTAL - sizes[i]);
        check(&b, 0, TOTAL);
        blocks_free(&b);
        assert_int_equal(used, 0);
        block_pool_free(&shop);
    }
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_write), TEST(test_limit),
        TEST(test_move), TEST(test_shop), TEST(test_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
