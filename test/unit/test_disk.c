/* SPDX-License-Identifier: MIT */
/* test_disk.c - file jobs: in order within a queue, queues in parallel, within limits. */
#include "sink/store/disk.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { JOBS = 200, LANES = 5 };

struct counted {
    struct disk_job job; /* first */
    int lane, number;
    useconds_t takes;
};

static atomic_int running[LANES], last_run[LANES];
static int last_done[LANES], all_done;
static bool disorder;

static void run(struct disk_job *job)
{
    struct counted *c = (struct counted *)(void *)job;

    if (atomic_fetch_add(&running[c->lane], 1) != 0 || atomic_load(&last_run[c->lane]) >= c->number)
        disorder = true;
    atomic_store(&last_run[c->lane], c->number);
    if (c->takes) {
        const struct timespec t = { 0, (long)c->takes * 1000 };

        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
    }
    atomic_fetch_sub(&running[c->lane], 1);
}

static void done(struct disk_job *job)
{
    struct counted *c = (struct counted *)(void *)job;

    if (c->number != last_done[c->lane] + 1)
        disorder = true;
    last_done[c->lane] = c->number;
    all_done++;
    free(c);
}

static struct counted *counted(int lane, int number, size_t bytes, useconds_t takes)
{
    struct counted *c = calloc(1, sizeof(*c));

    *c = (struct counted){ { .run = run, .done = done, .bytes = bytes }, lane, number, takes };
    return c;
}

static void reset(void)
{
    disorder = false;
    all_done = 0;
    for (int i = 0; i < LANES; i++) {
        last_done[i] = 0;
        atomic_store(&last_run[i], 0);
    }
}

static void test_order(void **state)
{
    const struct disk_limits limits = { .lane_bytes = 1 << 20, .all_bytes = 1 << 20 };
    struct disk *d = disk_new(&limits);
    struct disk_lane lanes[LANES];

    (void)state;
    reset();
    for (int i = 0; i < LANES; i++)
        disk_lane_init(&lanes[i], d);
    for (int n = 1; n <= JOBS; n++) {
        for (int i = 0; i < LANES; i++)
            assert_true(disk_put(&lanes[i], &counted(i, n, 1, n % 50 == 0 ? 2000 : 0)->job, false));
        if (n % 20 == 0)
            co_yield();
    }
    disk_free(d, CO_SECONDS(10));
    assert_false(disorder);
    for (int i = 0; i < LANES; i++)
        assert_int_equal(last_done[i], JOBS);
}

static void test_bounds(void **state)
{
    const struct disk_limits limits = { .lane_bytes = 1000, .all_bytes = 1500 };
    struct disk *d = disk_new(&limits);
    struct disk_lane lanes[2];
    struct counted *over;

    (void)state;
    reset();
    disk_lane_init(&lanes[0], d);
    disk_lane_init(&lanes[1], d);
    assert_true(disk_put(&lanes[0], &counted(0, 1, 5000, 0)->job, false)); /* one may be larger */
    over = counted(0, 2, 1, 0);
    assert_false(disk_put(&lanes[0], &over->job, false));
    assert_true(disk_put(&lanes[0], &over->job, true));
    assert_true(disk_put(&lanes[1], &counted(1, 1, 10, 0)->job, false)); /* each may have one */
    over = counted(1, 2, 1, 0);
    assert_false(disk_put(&lanes[1], &over->job, false)); /* in all */
    free(over);
    disk_free(d, CO_SECONDS(10));
    assert_int_equal(last_done[0], 2);
    assert_int_equal(last_done[1], 1);
    assert_false(disorder);
}

/* Over the limit each queue may have a small job, but not thousands of queues. */
static void test_bounds_of_many(void **state)
{
    enum { MANY = 100, BYTES = 100, MOST = 1600 };
    const struct disk_limits limits = { .lane_bytes = MOST, .all_bytes = MOST };
    struct disk *d = disk_new(&limits);
    struct disk_lane lanes[MANY], other;
    int taken = 0;

    (void)state;
    reset();
    disk_lane_init(&other, d);
    assert_true(disk_put(&other, &counted(0, 1, MOST * 3, 0)->job, false));
    for (int i = 0; i < MANY; i++) {
        struct counted *one = counted(1, taken + 1, BYTES, 0);

        disk_lane_init(&lanes[i], d);
        assert_int_equal(disk_put(&lanes[i], &one->job, false), taken < MOST / 4 / BYTES);
        if (taken == MOST / 4 / BYTES)
            free(one);
        else
            taken++;
    }
    disk_free(d, CO_SECONDS(10));
    assert_int_equal(all_done, 1 + taken); /* queues run in parallel, in no order */
}

/* Data may be added to the last waiting job until a thread takes it. */
static void test_last_of_lane(void **state)
{
    const struct disk_limits limits = { .lane_bytes = 1000, .all_bytes = 1000 };
    struct disk *d = disk_new(&limits);
    struct disk_lane lane;

    (void)state;
    reset();
    disk_lane_init(&lane, d);
    assert_null(disk_lane_last(&lane));
    for (int n = 1; n <= 3; n++) {
        struct counted *one = counted(0, n, 1, 0);

        assert_true(disk_put(&lane, &one->job, false));
        assert_ptr_equal(disk_lane_last(&lane), &one->job);
    }
    for (int i = 0; i < 1000 && last_done[0] < 3; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_null(disk_lane_last(&lane));
    disk_free(d, CO_SECONDS(10));
}

static void test_files(void **state)
{
    struct disk_job job = { 0 };
    char root[] = "/tmp/test_disk.XXXXXX", path[512], tmp[520];
    size_t size;
    char *text;

    (void)state;
    assert_non_null(mkdtemp(root));
    (void)snprintf(path, sizeof(path), "%s/a/b/c", root);
    assert_true(disk_write_file(&job, path, "hello", 5));
    (void)snprintf(tmp, sizeof(tmp), "%s.tmp", path);
    assert_int_equal(access(tmp, F_OK), -1);
    text = disk_read_file(&job, path, 100, &size);
    assert_int_equal(size, 5);
    assert_memory_equal(text, "hello", 5);
    free(text);
    assert_null(disk_read_file(&job, path, 4, &size));
    assert_int_equal(job.error, EFBIG);
    job = (struct disk_job){ 0 };
    assert_int_equal(chmod(path, 0666), 0);
    assert_null(disk_read_file(&job, path, 100, &size)); /* other processes may have written it */
    assert_int_equal(job.error, EPERM);
    job = (struct disk_job){ 0 };
    (void)snprintf(tmp, sizeof(tmp), "%s/a/b/c/d", root); /* below a file */
    assert_false(disk_write_file(&job, tmp, "x", 1));
    assert_int_equal(job.error, ENOTDIR);
    disk_remove(path, root);
    assert_int_equal(access(path, F_OK), -1);
    (void)snprintf(path, sizeof(path), "%s/a/b", root);
    assert_int_equal(access(path, F_OK), -1); /* the folder was empty */
    (void)snprintf(path, sizeof(path), "%s/a", root);
    assert_int_equal(access(path, F_OK), 0);
    (void)snprintf(path, sizeof(path), "%s/x", root);
    disk_remove(path, root);
    assert_int_equal(access(root, F_OK), 0);
    (void)snprintf(path, sizeof(path), "%s/a", root);
    (void)rmdir(path);
    (void)rmdir(root);
}

static void check_file(const char *path, const char *want)
{
    struct disk_job job = { 0 };
    size_t size;
    char *text = disk_read_file(&job, path, 100, &size);

    assert_non_null(text);
    assert_int_equal(size, strlen(want));
    assert_memory_equal(text, want, size);
    free(text);
}

static ino_t inode(const char *path)
{
    struct stat st;

    assert_int_equal(stat(path, &st), 0);
    return st.st_ino;
}

/* As if the file had been written a while ago. */
static void make_older(const char *path)
{
    struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1000000000 } };

    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* A file that is replaced repeatedly alternates between two files, each with the whole text. */
static void test_swap(void **state)
{
    static const char *const texts[] = { "the first", "a longer one", "short", "last but one" };
    struct disk_job job = { 0 };
    char root[] = "/tmp/test_disk.XXXXXX", path[64], tmp[80];
    ino_t first = 0, second = 0;

    (void)state;
    assert_non_null(mkdtemp(root));
    (void)snprintf(path, sizeof(path), "%s/list", root);
    (void)snprintf(tmp, sizeof(tmp), "%s.tmp", path);
    for (size_t i = 0; i < COUNT(texts); i++) {
        if (i > 0)
            make_older(path);
        assert_true(disk_swap_file(&job, path, texts[i], strlen(texts[i])));
        check_file(path, texts[i]);
        if (i > 0)
            check_file(tmp, texts[i - 1]);
        else
            assert_int_equal(access(tmp, F_OK), -1);
        if (i == 0)
            first = inode(path);
        else if (i == 1)
            second = inode(path);
    }
    assert_int_equal(inode(path), second);
    assert_int_equal(inode(tmp), first);
    assert_true(disk_write_file(&job, path, "end", 3)); /* without the rest of a longer text */
    check_file(path, "end");
    assert_int_equal(access(tmp, F_OK), -1);
    (void)unlink(path);
    (void)rmdir(root);
}

/* A process that opened the file before it was replaced reads its old content, however soon the next one
 * comes. */
static void test_swap_under_a_reader(void **state)
{
    struct disk_job job = { 0 };
    char root[] = "/tmp/test_disk.XXXXXX", path[64], tmp[80], got[8] = { 0 };
    int fd;

    (void)state;
    assert_non_null(mkdtemp(root));
    (void)snprintf(path, sizeof(path), "%s/list", root);
    (void)snprintf(tmp, sizeof(tmp), "%s.tmp", path);
    assert_true(disk_swap_file(&job, path, "one", 3));
    fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    assert_true(disk_swap_file(&job, path, "two", 3));
    assert_true(disk_swap_file(&job, path, "three", 5));
    assert_int_equal(read(fd, got, sizeof(got)), 3);
    assert_string_equal(got, "one");
    check_file(path, "three");
    (void)close(fd);
    (void)unlink(tmp);
    (void)unlink(path);
    (void)rmdir(root);
}

static int setup(void **state)
{
    err_t err = co_init();

    (void)state;
    err_free(&err);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_order), TEST(test_bounds), TEST(test_bounds_of_many), TEST(test_last_of_lane),
        TEST(test_files), TEST(test_swap), TEST(test_swap_under_a_reader),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
