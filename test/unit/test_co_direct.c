/* SPDX-License-Identifier: MIT */
/* test_co_direct.c - reads past the kernel's memory, one and many, at ends and of what is none. */
#include "co/os/direct.h"
#include "temp_dir.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = CO_DIRECT_ALIGN, PAGES = 40, SIZE = PAGES * PAGE + 100, MANY = 150 };

static uint8_t byte_at(int64_t i)
{
    return (uint8_t)(i * 7 + (i >> 12));
}

/* -1: no such reads here, as in a file system of memory. */
static int open_file(void)
{
    char path[128];
    uint8_t *all = malloc(SIZE);
    int fd, direct;

    assert_non_null(all);
    for (int64_t i = 0; i < SIZE; i++)
        all[i] = byte_at(i);
    (void)snprintf(path, sizeof(path), "%s/a", dir);
    fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, all, SIZE), SIZE);
    free(all);
    assert_int_equal(close(fd), 0);
    fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    direct = co_direct_open(fd);
    assert_int_equal(close(fd), 0);
    return direct;
}

static uint8_t *pages(size_t n)
{
    uint8_t *p = aligned_alloc(PAGE, n * PAGE);

    assert_non_null(p);
    memset(p, 0xee, n * PAGE);
    return p;
}

static void assert_is_there(const struct co_direct_read *r)
{
    ssize_t got = r->got;
    int64_t at = r->at;

    for (int i = 0; i < r->n && got > 0; i++) {
        const uint8_t *p = r->v[i].iov_base;

        for (size_t k = 0; k < r->v[i].iov_len && got > 0; k++, got--, at++)
            assert_int_equal(p[k], byte_at(at));
    }
    assert_int_equal(got, 0);
}

static void what_is_read(void **state)
{
    static const struct {
        int at, pieces, each; /* pages */
        ssize_t got;
    } rows[] = {
        { 0, 0, 1, 0 },
        { 0, 1, 1, PAGE },
        { 3, 2, 1, (ssize_t)2 * PAGE },
        { 1, CO_DIRECT_PIECES - 1, 1, (ssize_t)(CO_DIRECT_PIECES - 1) * PAGE },
        { 7, 4, 3, (ssize_t)12 * PAGE },
        { PAGES - 1, 2, 1, PAGE + 100 },
        { PAGES, 1, 1, 100 },
        { PAGES + 1, 1, 1, 0 },
        { 10 * PAGES, 1, 1, 0 },
    };
    struct co_direct_read r[COUNT(rows)];
    int fd = open_file();

    (void)state;
    if (fd < 0)
        skip();
    for (unsigned together = 0; together < 2; together++) {
        memset(r, 0, sizeof(r));
        for (size_t i = 0; i < COUNT(rows); i++) {
            r[i] = (struct co_direct_read){ .fd = fd, .at = (int64_t)rows[i].at * PAGE,
                                            .n = rows[i].pieces, .got = -1 };
            for (int k = 0; k < r[i].n; k++)
                r[i].v[k] = (struct iovec){ pages((size_t)rows[i].each),
                                            (size_t)rows[i].each * PAGE };
            if (!together)
                co_direct_read(&r[i], 1);
        }
        if (together)
            co_direct_read(r, COUNT(rows));
        for (size_t i = 0; i < COUNT(rows); i++) {
            assert_int_equal(r[i].got, rows[i].got);
            assert_is_there(&r[i]);
            for (int k = 0; k < r[i].n; k++)
                free(r[i].v[k].iov_base);
        }
    }
    assert_int_equal(close(fd), 0);
}

/* More than go at once, and some that cannot be: the others do not mind. */
static void what_cannot_be_read(void **state)
{
    struct co_direct_read *r = calloc(MANY, sizeof(*r));
    uint8_t *memory = pages(MANY + 1);
    int fd = open_file();

    (void)state;
    assert_non_null(r);
    for (int i = 0; i < MANY; i++) {
        r[i] = (struct co_direct_read){ .fd = fd, .at = (int64_t)(i % PAGES) * PAGE, .n = 1,
                                        .v = { { memory + (size_t)i * PAGE, PAGE } } };
        if (i % 50 == 20)
            r[i].fd = -1;
        if (i % 50 == 30)
            r[i].at = -PAGE;
    }
    if (fd >= 0)
        co_direct_read(r, MANY);
    for (int i = 0; fd >= 0 && i < MANY; i++) {
        assert_int_equal(r[i].got, i % 50 == 20 ? -EBADF : i % 50 == 30 ? -EINVAL : PAGE);
        if (r[i].got > 0)
            assert_is_there(&r[i]);
    }
    co_direct_read(r, 0);
    free(memory);
    free(r);
    if (fd < 0)
        skip();
    assert_int_equal(close(fd), 0);
    assert_int_equal(co_direct_open(-1), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_read, dir_make, dir_remove),
        cmocka_unit_test_setup_teardown(what_cannot_be_read, dir_make, dir_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
