/* SPDX-License-Identifier: MIT */
/* test_base_wr.c - text in a growing buffer. */
#include "base/wr.h"
#include "unit.h"

#include <string.h>

static void text_of_any_length(void **state)
{
    static const size_t lengths[] = { 0, 1, 254, 255, 256, 257, 5000 };
    char all[5001];

    (void)state;
    memset(all, 'x', sizeof(all));
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        size_t n = lengths[i];
        struct wr w;

        wr_init(&w, n + 2);
        wr_text(&w, "<");
        wr_printf(&w, "%.*s%c", (int)n, all, '>');
        assert_int_equal(w.bad, ERR_OK);
        assert_int_equal(w.len, n + 2);
        assert_memory_equal(w.buf, "<", 1);
        assert_memory_equal(w.buf + 1, all, n);
        assert_memory_equal(w.buf + 1 + n, ">", 1);
        wr_free(&w);
    }
}

/* Text that does not fit is not truncated: nothing of it is written, and all later writes fail, too. */
static void text_over_the_limit(void **state)
{
    struct wr w;

    (void)state;
    wr_init(&w, 4);
    wr_printf(&w, "%d", 123);
    wr_printf(&w, "%d", 45);
    wr_text(&w, "");
    assert_err(wr_err(&w, "it"), ERR_TOO_LARGE);
    assert_int_equal(w.len, 3);
    wr_free(&w);
}

/* Unused space of the buffer is returned, and can be written as before. */
static void a_buffer_that_fits(void **state)
{
    struct wr w;

    (void)state;
    wr_init(&w, 1000);
    wr_fit(&w);
    assert_null(w.buf);
    for (size_t i = 0; i < 1000; i++) {
        wr_u8(&w, (uint8_t)i);
        wr_fit(&w);
        assert_int_equal(w.cap, i + 1);
    }
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(w.buf[i], (uint8_t)i);
    wr_u8(&w, 0);
    assert_true(w.bad);
    wr_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(text_of_any_length),
        TEST(text_over_the_limit),
        TEST(a_buffer_that_fits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
