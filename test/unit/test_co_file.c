/* SPDX-License-Identifier: MIT */
/* test_co_file.c - opening, reading and sending files below a folder, cached or not. */
#include "co/co.h"
#include "co/net/io_tcp.h"
#include "co/os/file.h"
#include "io_mem.h"
#include "unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test_file_XXXXXX";

enum { BIG = 3 * 1024 * 1024 + 77 };

static const char *at(const char *name)
{
    static char path[128];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static uint8_t byte_at(size_t i)
{
    return (uint8_t)(i * 7 + (i >> 13));
}

static void put(const char *name, size_t size)
{
    FILE *f = fopen(at(name), "wb");

    assert_non_null(f);
    for (size_t i = 0; i < size; i++)
        (void)fputc(byte_at(i), f);
    assert_int_equal(fclose(f), 0);
}

/* Drops it from the page cache, as far as the kernel does that. */
static void make_cold(const char *name)
{
    int fd = open(at(name), O_RDONLY);

    assert_true(fd >= 0);
    assert_int_equal(fdatasync(fd), 0);
    assert_int_equal(posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED), 0);
    (void)close(fd);
}

static void what_opens(void **state)
{
    static const struct {
        const char *path;
        enum err_code code;
        bool is_folder;
    } rows[] = {
        { "a", ERR_OK, false },
        { "/a", ERR_OK, false },
        { "d", ERR_OK, true },
        { "d/", ERR_OK, true },
        { "d/b", ERR_OK, false },
        { "", ERR_OK, true },
        { "inside", ERR_OK, false },
        { "nix", ERR_NO_FILE, false },
        { "a/b", ERR_NO_FILE, false },
        { "../etc/passwd", ERR_NO_FILE, false },
        { "d/../../etc/passwd", ERR_NO_FILE, false },
        { "outside", ERR_NO_FILE, false },
        { "up/etc/passwd", ERR_NO_FILE, false },
        { "pipe", ERR_NO_FILE, false },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct co_file f = { .fd = -1 };

        assert_err(co_file_open(&f, folder, rows[i].path), rows[i].code);
        if (rows[i].code == ERR_OK)
            assert_int_equal(f.is_folder, rows[i].is_folder);
        assert_int_equal(f.fd >= 0, rows[i].code == ERR_OK);
        co_file_close(&f);
        co_file_close(&f); /* twice is fine */
    }
    assert_err(co_file_open(&(struct co_file){ .fd = -1 }, at("nix"), "a"), ERR_NO_FILE);
}

/* As an absolute path: links are followed, a missing file has the path that it would have. */
static void where_it_leads(void **state)
{
    static const struct {
        const char *path, *to;
        enum err_code code;
    } rows[] = {
        { "a", "a", ERR_OK },          { "/d/b", "d/b", ERR_OK },
        { "d/nix", "d/nix", ERR_OK },  { "inside", "d/b", ERR_OK },
        { "link/b", "d/b", ERR_OK },   { "link/nix", "d/nix", ERR_OK },
        { "nix/b", NULL, ERR_NO_FILE }, { "outside", NULL, ERR_NO_FILE },
        { "up/etc/passwd", NULL, ERR_NO_FILE }, { "../x", NULL, ERR_NO_FILE },
    };
    char got[2000], own[2000];
    uint64_t device[2], inode[2];

    (void)state;
    assert_int_equal(symlink("d", at("link")), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].path);
        assert_err(co_file_where(folder, rows[i].path, got, sizeof(got)), rows[i].code);
        if (rows[i].to)
            assert_string_equal(got, at(rows[i].to));
    }
    assert_err(co_file_where(folder, "a", got, 5), ERR_NO_FILE); /* it does not fit */
    assert_non_null(getcwd(own, sizeof(own)));
    assert_ok(co_file_where(".", "Makefile", got, sizeof(got)));
    assert_memory_equal(got, own, strlen(own));
    assert_true(co_folder_id(at("d"), &device[0], &inode[0]));
    assert_true(co_folder_id(at("link"), &device[1], &inode[1]));
    assert_int_equal(device[0], device[1]);
    assert_int_equal(inode[0], inode[1]);
    assert_false(co_folder_id(at("a"), &device[0], &inode[0]));
    assert_int_equal(unlink(at("link")), 0);
}

static void reads(void **state)
{
    static uint8_t buf[BIG];
    struct co_file f;

    (void)state;
    for (int cold = 0; cold < 2; cold++) {
        if (cold)
            make_cold("big");
        assert_ok(co_file_open(&f, folder, "big"));
        assert_int_equal(f.size, BIG);
        assert_ok(co_file_read(&f, 0, buf, BIG));
        for (size_t i = 0; i < BIG; i++) {
            if (buf[i] != byte_at(i))
                fail_msg("byte %zu is wrong", i);
        }
        assert_ok(co_file_read(&f, BIG - 1, buf, 1));
        assert_int_equal(buf[0], byte_at(BIG - 1));
        assert_err(co_file_read(&f, BIG - 1, buf, 2), ERR_SYSTEM); /* it is shorter */
        co_file_close(&f);
    }
}

struct receiver {
    struct io *io;
    size_t from, got;
};

static err_t receive(void *arg)
{
    struct receiver *r = arg;
    uint8_t buf[5000];
    size_t n;
    err_t err;

    while (!(err = io_read(r->io, buf, sizeof(buf), &n))) {
        for (size_t i = 0; i < n; i++) {
            if (buf[i] != byte_at(r->from + r->got + i))
                return err_new(ERR_MALFORMED, "byte %zu", r->got + i);
        }
        r->got += n;
    }
    return err;
}

/* Directly from the page cache, to a slower reader; warm and cold. */
static void sends(void **state)
{
    (void)state;
    for (int cold = 0; cold < 2; cold++) {
        struct receiver r = { .from = 1000 };
        struct co_group g;
        struct co_file f;
        struct io *io;
        int fds[2];

        if (cold)
            make_cold("big");
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
        assert_ok(io_tcp_open(&io, fds[0]));
        assert_ok(io_tcp_open(&r.io, fds[1]));
        io->write_timeout = r.io->read_timeout = CO_SECONDS(5);
        co_group_init(&g);
        assert_ok(co_go(&g, "receiver", receive, &r));
        assert_ok(co_file_open(&f, folder, "big"));
        assert_ok(co_file_send(&f, io, 1000, BIG - 1000));
        assert_int_equal(io->bytes_out, BIG - 1000);
        co_file_close(&f);
        io_close(io);
        assert_err(co_group_wait(&g), ERR_IO_CLOSED);
        assert_int_equal(r.got, BIG - 1000);
        io_close(r.io);
    }
}

/* To a pipe that cannot take a file. */
static void sends_copied(void **state)
{
    static uint8_t out[BIG];
    struct io_mem m;
    struct co_file f;

    (void)state;
    io_mem_init(&m, NULL, 0);
    m.out = out;
    m.out_cap = BIG;
    assert_ok(co_file_open(&f, folder, "big"));
    assert_ok(co_file_send(&f, &m.io, 5, BIG - 5));
    assert_int_equal(m.out_size, BIG - 5);
    assert_int_equal(out[0], byte_at(5));
    assert_int_equal(out[BIG - 6], byte_at(BIG - 1));
    co_file_close(&f);
}

static int set_up(void **state)
{
    (void)state;
    assert_ok(co_init());
    assert_non_null(mkdtemp(folder));
    put("a", 10);
    put("big", BIG);
    assert_int_equal(mkdir(at("d"), 0755), 0);
    put("d/b", 3);
    assert_int_equal(symlink("d/b", at("inside")), 0);
    assert_int_equal(symlink("/etc/passwd", at("outside")), 0);
    assert_int_equal(symlink("..", at("up")), 0);
    assert_int_equal(mkfifo(at("pipe"), 0644), 0);
    return 0;
}

static int clean_up(void **state)
{
    static const char *const names[] = { "a", "big", "d/b", "inside", "outside", "up", "pipe" };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        (void)unlink(at(names[i]));
    (void)rmdir(at("d"));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_opens), TEST(where_it_leads), TEST(reads), TEST(sends), TEST(sends_copied),
    };

    return cmocka_run_group_tests(tests, set_up, clean_up);
}
