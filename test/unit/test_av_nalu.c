/* SPDX-License-Identifier: MIT */
/* test_av_nalu.c - NAL units in both packings. */
#include "av/nalu.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

static const char long_unit[262] = { 0, 0, 1, 2, 0x65 };

static const struct {
    const char *name;
    const char *bytes;
    size_t size;
    enum nalu_format format;
    unsigned length;
    size_t units, total; /* result of a walk: units and their bytes */
} rows[] = {
    { "annexb, 3-byte start",  "\0\0\1\x65\1\2", 6, NALU_ANNEXB, 4, 1, 3 },
    { "annexb, 4-byte start",  "\0\0\0\1\x67\1\0\0\0\1\x68", 11, NALU_ANNEXB, 4, 2, 3 },
    { "annexb, more zeros",    "\0\0\0\0\0\1\x67", 7, NALU_ANNEXB, 4, 1, 1 },
    { "annexb, empty unit",    "\0\0\1\0\0\1\x65", 7, NALU_ANNEXB, 4, 2, 1 },
    { "annexb, zeros inside",  "\0\0\1\x65\0\0\2\0\1", 9, NALU_ANNEXB, 4, 1, 6 },
    { "annexb, only a start",  "\0\0\1", 3, NALU_ANNEXB, 4, 1, 0 },
    { "lengths of 4",          "\0\0\0\2\x65\1\0\0\0\1\x41", 11, NALU_LENGTH, 4, 2, 3 },
    { "lengths of 2",          "\0\2\x65\1\0\1\x41", 7, NALU_LENGTH, 2, 2, 3 },
    { "lengths of 1",          "\2\x65\1\1\x41", 5, NALU_LENGTH, 1, 2, 3 },
    { "an empty one",          "\0\0\0\0\0\0\0\2\x41\1", 10, NALU_LENGTH, 4, 2, 2 },
    { "a length of 1 looks like a start code, and is one", "\0\0\0\1\x65", 5, NALU_ANNEXB, 4, 1, 1 },
    { "a length of 258 looks like one, but adds up", long_unit, 262, NALU_LENGTH, 4, 1, 258 },
    { "the same cut is none, so it is one", long_unit, 261, NALU_ANNEXB, 4, 1, 258 },
    { "too long",              "\0\0\0\3\x65\1", 6, NALU_UNKNOWN, 4, 0, 0 },
    { "lengths of 3",          "\0\0\2\x65\1", 5, NALU_UNKNOWN, 3, 0, 0 },
    { "empty",                 "", 0, NALU_UNKNOWN, 4, 0, 0 },
};

static void test_formats(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint8_t *bytes = (const uint8_t *)rows[i].bytes;
        struct nalu_reader r;
        struct nalu n;
        size_t units = 0, total = 0;

        print_message("  %s\n", rows[i].name);
        assert_int_equal(nalu_detect(bytes, rows[i].size, rows[i].length), rows[i].format);
        if (rows[i].format == NALU_UNKNOWN)
            continue;
        assert_ok(nalu_begin(&r, rows[i].format, rows[i].length, bytes, rows[i].size));
        for (;;) {
            assert_ok(nalu_next(&r, &n));
            if (!n.data)
                break;
            units++;
            total += n.size;
        }
        assert_int_equal(units, rows[i].units);
        assert_int_equal(total, rows[i].total);
    }
}

static void test_refused(void **state)
{
    struct nalu_reader r;
    struct nalu n;

    (void)state;
    assert_err(nalu_begin(&r, NALU_ANNEXB, 4, (const uint8_t *)"\0\0\0\2\x65\1", 6), ERR_CODEC);
    assert_err(nalu_begin(&r, NALU_LENGTH, 3, (const uint8_t *)"\0\0\2\x65\1", 5), ERR_CODEC);
    assert_err(nalu_begin(&r, NALU_UNKNOWN, 4, (const uint8_t *)"x", 1), ERR_CODEC);
    assert_ok(nalu_begin(&r, NALU_LENGTH, 4, (const uint8_t *)"\0\0\0\3\x65\1", 6));
    assert_err(nalu_next(&r, &n), ERR_CODEC);
    assert_null(n.data);
}

/* The maximum number of units, and one more, in both packings. */
static void test_many_units(void **state)
{
    static const struct { enum nalu_format format; const char *unit; size_t size; } ways[] = {
        { NALU_LENGTH, "\0\0\0\2\x65\1", 6 }, { NALU_ANNEXB, "\0\0\0\1\x65", 5 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(ways); i++) {
        size_t n = ways[i].size, whole = n * NALU_UNITS_MAX;
        uint8_t *frame = malloc(whole + n);
        struct nalu_reader r;
        struct nalu unit;

        for (size_t k = 0; k <= NALU_UNITS_MAX; k++)
            memcpy(frame + k * n, ways[i].unit, n);
        assert_int_equal(nalu_detect(frame, whole, 4), ways[i].format);
        assert_int_equal(nalu_detect(frame, whole + n, 4),
                         ways[i].format == NALU_LENGTH ? NALU_UNKNOWN : NALU_ANNEXB);
        assert_ok(nalu_begin(&r, ways[i].format, 4, frame, whole + n));
        for (size_t k = 0; k < NALU_UNITS_MAX; k++)
            assert_ok(nalu_next(&r, &unit));
        assert_err(nalu_next(&r, &unit), ERR_CODEC);
        assert_ok(nalu_begin(&r, ways[i].format, 4, frame, whole));
        for (size_t k = 0; k <= NALU_UNITS_MAX; k++)
            assert_ok(nalu_next(&r, &unit));
        assert_null(unit.data);
        free(frame);
    }
}

static void test_cut_at_every_byte(void **state)
{
    static const uint8_t frame[] = "\0\0\0\2\x65\1\0\0\0\3\x41\2\3\0\0\0\1\x06";
    size_t size = sizeof(frame) - 1;

    (void)state;
    for (size_t n = 0; n <= size; n++) {
        bool whole = n == 6 || n == 13 || n == size;
        uint8_t *exact = malloc(n + 1);

        memcpy(exact, frame, n);
        assert_int_equal(nalu_detect(exact, n, 4), whole ? NALU_LENGTH : NALU_UNKNOWN);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_formats), TEST(test_refused), TEST(test_many_units), TEST(test_cut_at_every_byte),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
