/* SPDX-License-Identifier: MIT */
/* test_vod_held.c - stretches of files in memory, and the blocks that these are made of. */
#include "unit.h"
#include "vod/held.h"

#include <pthread.h>
#include <string.h>

enum { AT = 8192, LAST = 100, BLOCKS = 3, END = AT + (BLOCKS - 1) * VOD_BLOCK + LAST };

static uint8_t byte_at(int64_t i)
{
    return (uint8_t)(i * 7 + (i >> 9));
}

static void what_is_held(void **state)
{
    static const struct {
        int64_t at;
        size_t size;
        bool is;
    } rows[] = {
        { AT, 0, true },         { AT, 1, true },         { AT - 1, 1, false },
        { AT - 1, 0, false },    { AT, END - AT, true },  { AT, END - AT + 1, false },
        { END, 0, true },        { END, 1, false },       { END + 1, 0, false },
        { END - 1, 1, true },    { 0, 1, false },         { -1, 1, false },
        { AT + VOD_BLOCK - 1, 2, true },                  { AT + VOD_BLOCK, VOD_BLOCK, true },
        { AT + 5, 2 * VOD_BLOCK, true },                  { AT, SIZE_MAX, false },
        { INT64_MAX, 1, false }, { AT + 1, (size_t)INT64_MAX, false },
    };
    static uint8_t memory[BLOCKS][VOD_BLOCK], out[BLOCKS * VOD_BLOCK];
    struct vod_held h = { .at = AT, .end = END, .n = BLOCKS };

    (void)state;
    for (int i = 0; i < BLOCKS; i++) {
        h.blocks[i] = memory[i];
        for (int k = 0; k < VOD_BLOCK; k++)
            memory[i][k] = byte_at(AT + (int64_t)i * VOD_BLOCK + k);
    }
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(vod_held_copy(&h, rows[i].at, out, rows[i].size), rows[i].is);
        for (size_t k = 0; rows[i].is && k < rows[i].size; k++)
            assert_int_equal(out[k], byte_at(rows[i].at + (int64_t)k));
    }
    assert_null(vod_held_pop(&h, AT + VOD_BLOCK - 1));
    assert_ptr_equal(vod_held_pop(&h, AT + VOD_BLOCK), memory[0]);
    assert_false(vod_held_copy(&h, AT + VOD_BLOCK - 1, out, 1));
    assert_true(vod_held_copy(&h, AT + VOD_BLOCK, out, 1));
    assert_int_equal(out[0], byte_at(AT + VOD_BLOCK));
    assert_ptr_equal(vod_held_pop(&h, INT64_MAX), memory[1]);
    assert_null(vod_held_pop(&h, END - 1));
    assert_ptr_equal(vod_held_pop(&h, END), memory[2]);
    assert_null(vod_held_pop(&h, INT64_MAX));
    assert_int_equal(h.at, END);
    h = (struct vod_held){ 0 };
    assert_null(vod_held_pop(&h, INT64_MAX));
    assert_false(vod_held_copy(&h, 0, out, 1));
}

enum { SLAB = 2 << 20, EACH = SLAB / VOD_BLOCK - 1, ALL = 3 * EACH };

static void how_many_blocks(void **state)
{
    struct vod_blocks *b = vod_blocks_new();
    uint8_t *v[ALL];

    (void)state;
    assert_null(vod_blocks_take(b, 0));
    assert_null(vod_blocks_take(b, SLAB - 1));
    assert_int_equal(vod_blocks_bytes(b), 0);
    for (unsigned i = 0; i < ALL; i++) {
        v[i] = vod_blocks_take(b, (size_t)3 * SLAB);
        assert_non_null(v[i]);
        assert_int_equal((uintptr_t)v[i] % CO_DIRECT_ALIGN, 0);
        memset(v[i], (int)i, VOD_BLOCK);
        assert_int_equal(vod_blocks_bytes(b), (i / EACH + 1) * (size_t)SLAB);
    }
    assert_null(vod_blocks_take(b, (size_t)4 * SLAB - 1));
    for (unsigned i = 0; i < ALL; i++) {
        assert_int_equal(v[i][0], (uint8_t)i);
        assert_int_equal(v[i][VOD_BLOCK - 1], (uint8_t)i);
    }
    vod_blocks_give(b, v[7]);
    assert_ptr_equal(vod_blocks_take(b, 0), v[7]); /* what there is does not grow */
    for (unsigned i = 0; i < ALL; i++)
        vod_blocks_give(b, v[i]);
    assert_int_equal(vod_blocks_bytes(b), SLAB);
    assert_non_null(vod_blocks_take(b, 0));
    vod_blocks_unref(b); /* with all that it has */
    vod_blocks_unref(NULL);
}

struct thread {
    struct vod_blocks *blocks;
    uint8_t *v[20];
};

static void *bring_back(void *arg)
{
    struct thread *t = arg;

    for (size_t i = 0; i < COUNT(t->v); i++)
        vod_blocks_return(t->blocks, t->v[i]);
    vod_blocks_unref(t->blocks);
    return NULL;
}

/* Other threads give back what they had, also when nobody is there any more. */
static void who_gives_back(void **state)
{
    struct vod_blocks *b = vod_blocks_new();
    struct thread t[3];
    pthread_t id[COUNT(t)];

    (void)state;
    for (size_t i = 0; i < COUNT(t); i++) {
        t[i].blocks = vod_blocks_ref(b);
        for (size_t k = 0; k < COUNT(t[i].v); k++)
            t[i].v[k] = vod_blocks_take(b, SLAB);
    }
    for (size_t i = 0; i + 1 < COUNT(t); i++)
        assert_int_equal(pthread_create(&id[i], NULL, bring_back, &t[i]), 0);
    for (size_t i = 0; i + 1 < COUNT(t); i++)
        assert_int_equal(pthread_join(id[i], NULL), 0);
    for (unsigned i = 0; i < EACH - COUNT(t[2].v); i++)
        assert_non_null(vod_blocks_take(b, SLAB));
    assert_null(vod_blocks_take(b, SLAB));
    vod_blocks_unref(b);
    (void)bring_back(&t[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_held),
        cmocka_unit_test(how_many_blocks),
        cmocka_unit_test(who_gives_back),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
