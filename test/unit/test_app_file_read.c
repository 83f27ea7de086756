/* SPDX-License-Identifier: MIT */
/* test_app_file_read.c - configuration files read on a helper thread. */
#include "app/os/file_read.h"
#include "co/co.h"
#include "temp_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int setup(void **state)
{
    err_t err = co_init();

    return err ? 1 : dir_make(state);
}

static void put(const char *name, size_t size)
{
    char file[160];
    FILE *f;

    (void)snprintf(file, sizeof(file), "%s/%s", dir, name);
    f = fopen(file, "w");
    assert_non_null(f);
    for (size_t i = 0; i < size; i++)
        (void)fputc('a' + (int)(i % 26), f);
    assert_int_equal(fclose(f), 0);
}

static const struct {
    const char *name;
    size_t size;
    enum err_code code;
} rows[] = {
    { "empty", 0, ERR_OK },
    { "one", 1, ERR_OK },
    { "a piece", 64 * 1024, ERR_OK },
    { "more than a piece", 64 * 1024 + 1, ERR_OK },
    { "the limit", 4 << 20, ERR_OK },
    { "more", (4 << 20) + 1, ERR_CONF },
};

static void test_sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char *text = NULL;
        size_t size = 0;

        print_message("  %s\n", rows[i].name);
        put("f", rows[i].size);
        assert_err(file_read(dir, "f", &text, &size), rows[i].code);
        if (rows[i].code == ERR_OK) {
            assert_int_equal(size, rows[i].size);
            for (size_t at = 0; at < size; at += 997)
                assert_int_equal(text[at], 'a' + (int)(at % 26));
        }
        free(text);
    }
}

static void test_paths(void **state)
{
    char absolute[160], *text = NULL;
    char longest[5000];
    size_t size;

    (void)state;
    put("f", 3);
    (void)snprintf(absolute, sizeof(absolute), "%s/f", dir);
    assert_ok(file_read((char *)"/nowhere", absolute, &text, &size));
    assert_int_equal(size, 3);
    free(text);
    assert_err(file_read((char *)"/nowhere", "f", &text, &size), ERR_CONF);
    assert_err(file_read(dir, ".", &text, &size), ERR_CONF); /* a folder */
    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_err(file_read(dir, longest, &text, &size), ERR_CONF);
}

#define READ_TEST(f) cmocka_unit_test_setup_teardown(f, setup, dir_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        READ_TEST(test_sizes),
        READ_TEST(test_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
