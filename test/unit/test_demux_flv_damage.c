/* SPDX-License-Identifier: MIT */
/* test_demux_flv_damage.c - FLV files that are truncated, changed or invalid. */
#include "flv_walk.h"

/* ---- damage */

static enum demux_status try(struct file *f, size_t index_max, unsigned *samples)
{
    const struct demux_limits limits = { .index_max = index_max };
    struct demux_index *x = NULL;
    const char *why = NULL;
    enum demux_status st = demux_open(&x, &f->in, &limits, &why);
    struct walk_all all = { .samples = 0 };

    assert_true((st == DEMUX_OK) == (x != NULL));
    if (x) {
        walk_all(&all, x, f);
        st = all.ended;
    } else {
        assert_non_null(why);
    }
    *samples = all.samples;
    demux_close(x);
    return st;
}

static void cut_everywhere(void **state)
{
    double at[3];
    unsigned n, before = 0;
    struct file f;
    struct wr w;

    (void)state;
    film_file(&w, 3, 20, at);
    for (size_t size = 0; size <= w.len; size++) {
        uint8_t *copy = malloc(size ? size : 1); /* to notice reads after its end */
        enum demux_status st;

        memcpy(copy, w.buf, size);
        file_init(&f, copy, size);
        st = try(&f, 1 << 20, &n);
        assert_true(n >= before && n <= before + 1);
        assert_int_equal(st, size < 13 ? DEMUX_BROKEN : n ? DEMUX_OK : DEMUX_UNSUPPORTED);
        before = n;
        free(copy);
    }
    assert_int_equal(before, 60);
    wr_free(&w);
}

/* The file was cut after it was opened. */
static void becomes_shorter(void **state)
{
    struct demux_index *x;
    struct walk_all all;
    struct file f;
    struct wr w;

    (void)state;
    film_with_metadata(&w, 20, 40, 0);
    file_init(&f, w.buf, w.len);
    x = file_open(&f);
    for (; f.in.size > 0; f.in.size -= 7 < f.in.size ? 7 : f.in.size)
        walk_all(&all, x, &f);
    assert_int_equal(all.ended, DEMUX_BROKEN);
    demux_close(x);
    wr_free(&w);
}

static void junk_at_the_end(void **state)
{
    static const char *const junk[] = { "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", "\x09\xff\xff\xff____________",
                                        "garbage garbage.", "\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\x0b!" };
    double at[2];
    unsigned n;

    (void)state;
    for (unsigned i = 0; i < COUNT(junk); i++) {
        struct file f;
        struct wr w;

        film_file(&w, 2, 20, at);
        wr_bytes(&w, junk[i], 16);
        file_init(&f, w.buf, w.len);
        assert_int_equal(try(&f, 1 << 20, &n), DEMUX_OK);
        assert_int_equal(n, 40);
        wr_free(&w);
    }
}

static void wrong_sizes_of_previous_tags(void **state)
{
    unsigned n;
    struct file f;
    struct wr w;

    (void)state;
    film_with_metadata(&w, 20, 40, 0);
    for (size_t i = 13, k = 0; i + 15 <= w.len; k++) {
        size_t size = (size_t)w.buf[i + 1] << 16 | (size_t)w.buf[i + 2] << 8 | w.buf[i + 3];

        memset(w.buf + i + 11 + size, (int)k, 4);
        i += 15 + size;
    }
    file_init(&f, w.buf, w.len);
    assert_int_equal(try(&f, 1 << 20, &n), DEMUX_OK);
    assert_int_equal(n, 400);
    wr_free(&w);
}

static void reading_fails_anywhere(void **state)
{
    static const enum demux_status rows[] = { DEMUX_AGAIN, DEMUX_IO, DEMUX_BROKEN };
    struct wr w;

    (void)state;
    film_with_metadata(&w, 20, 40, 0);
    for (unsigned i = 0; i < COUNT(rows); i++) {
        unsigned n, k = 0;
        struct file f;

        do {
            enum demux_status st;

            file_init(&f, w.buf, w.len);
            f.fail_at = ++k;
            f.fail = rows[i];
            st = try(&f, 1 << 20, &n);
            assert_int_equal(st, f.reads < k ? DEMUX_OK : rows[i]);
        } while (f.reads >= k);
        assert_true(k > 20);
    }
    wr_free(&w);
}

static void what_is_no_film(void **state)
{
    unsigned n;
    struct file f;
    struct wr w;

    (void)state;
    film_begin(&w);
    FLV_TAG(&w, FLV_VIDEO, 0, "\x12screen..");
    file_init(&f, w.buf, w.len);
    assert_int_equal(try(&f, 1 << 20, &n), DEMUX_UNSUPPORTED);
    wr_free(&w);
    film_begin(&w);
    flv_configs(&w);
    file_init(&f, w.buf, w.len);
    assert_int_equal(try(&f, 1 << 20, &n), DEMUX_UNSUPPORTED);
    wr_free(&w);
    file_init(&f, (const uint8_t *)"FLV\x01\x05\xff\xff\xff\xff\0\0\0\0", 13);
    assert_int_equal(try(&f, 1 << 20, &n), DEMUX_BROKEN);
}

static void an_index_has_a_limit(void **state)
{
    double at[600];
    unsigned n;
    struct file f;
    struct wr w;

    (void)state;
    film_file(&w, 600, 20, at);
    file_init(&f, w.buf, w.len);
    assert_int_equal(try(&f, 8192, &n), DEMUX_TOO_LARGE);
    assert_int_equal(try(&f, 100000, &n), DEMUX_OK);
    wr_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(cut_everywhere), TEST(becomes_shorter), TEST(junk_at_the_end),
        TEST(wrong_sizes_of_previous_tags), TEST(reading_fails_anywhere),
        TEST(what_is_no_film), TEST(an_index_has_a_limit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
