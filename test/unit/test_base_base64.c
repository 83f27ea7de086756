/* SPDX-License-Identifier: MIT */
/* test_base_base64.c - base64: the examples of RFC 4648 section 10, and invalid input. */
#include "base/base64.h"
#include "unit.h"

#include <string.h>

static const struct {
    const char *text, *plain; /* plain NULL: invalid */
    bool ours;                /* matches our output */
} rows[] = {
    { "", "", true }, { "Zg==", "f", true }, { "Zm8=", "fo", true }, { "Zm9v", "foo", true },
    { "Zm9vYg==", "foob", true }, { "Zm9vYmE=", "fooba", true }, { "Zm9vYmFy", "foobar", true },
    { "Zg", "f", false }, { "Zm8", "fo", false }, { "Zg=", "f", false }, { "++//", "\xfb\xef\xff", true },
    { "Z", NULL, false }, { "Zm9vY", NULL, false }, { "Zm-_", NULL, false }, { "Z g=", NULL, false },
    { "Zg===", NULL, false }, { "=", "", false },
};

static void test_rows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        uint8_t out[BASE64_ROOM(16)];
        size_t n;
        struct wr w;

        print_message("  '%s'\n", rows[i].text);
        assert_int_equal(base64_decode(rows[i].text, strlen(rows[i].text), out, &n),
                         rows[i].plain != NULL);
        if (!rows[i].plain)
            continue;
        assert_int_equal(n, strlen(rows[i].plain));
        assert_memory_equal(out, rows[i].plain, n);
        wr_init(&w, 100);
        base64_put(&w, rows[i].plain, n);
        assert_true(!rows[i].ours || (w.len == strlen(rows[i].text) &&
                                      memcmp(w.len ? w.buf : out, rows[i].text, w.len) == 0));
        wr_free(&w);
    }
}

static void test_every_size(void **state)
{
    uint8_t in[100], out[BASE64_ROOM(200)];
    size_t n;

    (void)state;
    for (size_t size = 0; size < sizeof(in); size++) {
        struct wr w;

        for (size_t i = 0; i < size; i++)
            in[i] = (uint8_t)(i * 97 + size);
        wr_init(&w, 200);
        base64_put(&w, in, size);
        assert_int_equal(w.len, (size + 2) / 3 * 4);
        assert_true(base64_decode((const char *)w.buf, w.len, out, &n));
        assert_int_equal(n, size);
        assert_memory_equal(out, in, size);
        wr_free(&w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { TEST(test_rows), TEST(test_every_size) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
