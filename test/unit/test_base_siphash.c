/* SPDX-License-Identifier: MIT */
/* test_base_siphash.c - SipHash-2-4: the vectors of its authors, and pieces of every size. */
#include "base/siphash.h"
#include "unit.h"

#include <string.h>

static const uint8_t key[SIPHASH_KEY] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

/* Inputs 0, 1, 2 ...: that of 15 bytes is Appendix A of the paper, all are from its reference code. */
static const struct {
    size_t size;
    uint64_t hash;
} rows[] = {
    { 0, UINT64_C(0x726fdb47dd0e0e31) },  { 1, UINT64_C(0x74f839c593dc67fd) },
    { 2, UINT64_C(0x0d6c8009d9a94f5a) },  { 3, UINT64_C(0x85676696d7fb7e2d) },
    { 7, UINT64_C(0xab0200f58b01d137) },  { 8, UINT64_C(0x93f5f5799a932462) },
    { 9, UINT64_C(0x9e0082df0ba9e4b0) },  { 15, UINT64_C(0xa129ca6149be45e5) },
    { 16, UINT64_C(0x3f2acc7f57c29bdb) }, { 17, UINT64_C(0x699ae9f52cbe4794) },
    { 63, UINT64_C(0x958a324ceb064572) },
};

static void fill(uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)i;
}

static void test_vectors(void **state)
{
    uint8_t data[64];

    (void)state;
    fill(data, sizeof(data));
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %zu bytes\n", rows[i].size);
        assert_int_equal(siphash(key, data, rows[i].size), rows[i].hash);
    }
}

static void test_pieces(void **state)
{
    uint8_t data[41];

    (void)state;
    fill(data, sizeof(data));
    for (size_t first = 0; first <= sizeof(data); first++) {
        for (size_t then = 0; first + then <= sizeof(data); then++) {
            struct siphash h;

            siphash_begin(&h, key);
            siphash_more(&h, data, first);
            siphash_more(&h, data + first, then);
            siphash_more(&h, data + first + then, sizeof(data) - first - then);
            assert_int_equal(siphash_end(&h), siphash(key, data, sizeof(data)));
        }
    }
}

static void test_keys_differ(void **state)
{
    uint8_t a[SIPHASH_KEY] = { 0 }, b[SIPHASH_KEY] = { 0 };

    (void)state;
    siphash_new_key(a);
    siphash_new_key(b);
    assert_memory_not_equal(a, b, sizeof(a));
    assert_int_not_equal(siphash(a, "x", 1), siphash(b, "x", 1));
    for (size_t i = 0; i < SIPHASH_KEY; i++) { /* each byte of it counts */
        memcpy(b, a, sizeof(a));
        b[i] ^= 0x80;
        assert_int_not_equal(siphash(a, "x", 1), siphash(b, "x", 1));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_vectors), TEST(test_pieces),
                                        TEST(test_keys_differ) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
