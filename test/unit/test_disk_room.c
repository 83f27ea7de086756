/* SPDX-License-Identifier: MIT */
/* test_disk_room.c - disk use of files below a folder, and whether more may be written. */
#include "sink/store/disk_count.h"
#include "sink/store/disk_room.h"
#include "temp_dir.h"
#include "unit.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

static const char *const ends[] = { ".flv", ".mp4", ".tmp", NULL };

static void put(const char *name, size_t size)
{
    char path[300];
    int fd;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    for (char *p = strchr(path + strlen(dir) + 1, '/'); p; p = strchr(p + 1, '/')) {
        *p = '\0';
        (void)mkdir(path, 0755);
        *p = '/';
    }
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, (off_t)size), 0);
    (void)close(fd);
}

static int64_t counted(const char *root)
{
    struct disk_count *c = disk_count_new(root, ends, true);
    int64_t bytes;

    for (int i = 0; !c->done; i++) {
        assert_true(i < 100);
        disk_count_step(c);
    }
    assert_true(c->size > 0 && c->free > 0);
    bytes = c->bytes;
    disk_count_free(c);
    return bytes;
}

static void files_are_counted(void **state)
{
    char link[100], missing[100];

    (void)state;
    put("a.flv", 1000);
    put("live/b.mp4", 20000);
    put("live/deep/er/c.flv.tmp", 300000);
    put("live/s-1.ts", 5000000); /* other streams' */
    put("index.html", 5000000);
    (void)snprintf(link, sizeof(link), "%s/again.flv", dir);
    assert_int_equal(symlink("a.flv", link), 0);
    (void)snprintf(link, sizeof(link), "%s/up", dir);
    assert_int_equal(symlink("..", link), 0);
    assert_int_equal(counted(dir), 321000);
    (void)snprintf(missing, sizeof(missing), "%s/not/there", dir);
    assert_int_equal(counted(missing), 0);
}

/* Enough for several steps, and deeper folders than the limit. */
static void it_is_done_in_steps(void **state)
{
    struct disk_count *c;
    char name[200] = "";

    (void)state;
    for (int i = 0; i < DISK_COUNT_STEP * 2; i++) {
        (void)snprintf(name, sizeof(name), "many/%d.flv", i);
        put(name, 1);
    }
    (void)snprintf(name, sizeof(name), "d");
    for (int i = 1; i < DISK_COUNT_DEPTH + 5; i++)
        (void)snprintf(name + 2 * i - 1, sizeof(name) - 2 * (size_t)i, "/d");
    (void)strcat(name, "/x.flv");
    put(name, 1);
    assert_int_equal(counted(dir), DISK_COUNT_STEP * 2);
    c = disk_count_new(dir, ends, true);
    disk_count_step(c);
    assert_false(c->done);
    disk_count_free(c); /* in the middle */
}

static const struct {
    const char *path, *root;
} roots[] = {
    { "./rec/[app]/[stream].flv", "./rec/" },
    { "./rec/x[app]/s.flv", "./rec/" },
    { "[app].flv", "." },
    { "/data/one.flv", "/data/" },
    { "one.mp4", "." },
    { "./objs/nginx/html", "./objs/nginx/html" },
    { "/data/v1.2", "/data/v1.2" },
};

/* Lets the counting coroutine run until what() holds. */
static bool comes(struct disk_room *r, enum disk_lack want, int64_t quota, int64_t floor)
{
    for (int i = 0; i < 600; i++) {
        err_t err;

        if (disk_room_lacks(r, quota, floor) == want)
            return true;
        err = co_sleep(CO_MS(10));
        err_free(&err);
    }
    return false;
}

static struct disk *new_disk(void)
{
    static const struct disk_limits limits = { .lane_bytes = 1 << 20, .all_bytes = 1 << 20,
                                               .threads = 2, .what = "recordings", .ends = ends };

    return disk_new(&limits);
}

static void folders_are_found(void **state)
{
    struct disk *d = new_disk();

    (void)state;
    for (size_t i = 0; i < COUNT(roots); i++) {
        struct disk_room r = { 0 };

        disk_room_open(&r, d, roots[i].path);
        assert_string_equal(disk_room_root(&r), roots[i].root);
        disk_room_close(&r);
        disk_room_close(&r);
    }
    disk_free(d, 0);
}

static void a_quota_ends_and_comes_back(void **state)
{
    struct disk *d = new_disk();
    struct disk_room a = { 0 }, b = { 0 };
    char path[64];

    (void)state;
    put("old.flv", 90000);
    disk_room_open(&a, d, dir);
    disk_room_open(&b, d, dir); /* another stream, the same folder */
    assert_int_equal(disk_room_lacks(&a, 100000, 0), DISK_LACKS_NOTHING);
    assert_true(comes(&a, DISK_LACKS_QUOTA, 80000, 0)); /* existing files count */
    assert_true(comes(&a, DISK_LACKS_NOTHING, 100000, 0));
    disk_room_add(&a, 10001);
    assert_int_equal(disk_room_lacks(&a, 100000, 0), DISK_LACKS_QUOTA);
    assert_int_equal(disk_room_lacks(&b, 100000, 0), DISK_LACKS_QUOTA);
    disk_room_add(&b, -2); /* not yet: it would start and stop all the time */
    assert_int_equal(disk_room_lacks(&b, 100000, 0), DISK_LACKS_QUOTA);
    disk_room_add(&b, -6000);
    assert_int_equal(disk_room_lacks(&b, 100000, 0), DISK_LACKS_NOTHING);
    disk_room_add(&b, 50000);
    assert_int_equal(disk_room_lacks(&b, 0, 0), DISK_LACKS_NOTHING);
    (void)snprintf(path, sizeof(path), "%s/old.flv", dir);
    assert_int_equal(unlink(path), 0); /* another process removes a file: this is noticed */
    assert_true(comes(&b, DISK_LACKS_NOTHING, 100000, 0));
    disk_room_close(&a);
    disk_free(d, 0);
    disk_room_close(&b); /* later than the disk */
}

/* Writes of one worker count for the other, although each has its own disk worker; they alternate
 * checks. */
static void workers_share_a_folder(void **state)
{
    struct disk *here = new_disk(), *there = new_disk();
    struct disk_room a = { 0 }, b = { 0 };

    (void)state;
    put("old.flv", 90000);
    disk_room_open(&a, here, dir);
    disk_room_open(&b, there, dir);
    assert_true(comes(&a, DISK_LACKS_QUOTA, 80000, 0));
    assert_int_equal(disk_room_lacks(&b, 80000, 0), DISK_LACKS_QUOTA);
    disk_room_add(&a, 20000);
    assert_int_equal(disk_room_lacks(&b, 100000, 0), DISK_LACKS_QUOTA);
    assert_int_equal(disk_room_used(&b), disk_room_used(&a));
    disk_room_close(&a);
    disk_free(here, 0); /* the other one continues, checks included */
    disk_room_add(&b, -60000);
    assert_int_equal(disk_room_lacks(&b, 100000, 0), DISK_LACKS_NOTHING);
    put("new.flv", 50000);
    assert_true(comes(&b, DISK_LACKS_QUOTA, 120000, 0));
    disk_room_close(&b);
    disk_free(there, 0);
}

/* After a check, at most the free space at that time is written. */
static bool spent_all(struct disk_room *r, int64_t free, int64_t floor)
{
    for (int i = 0; i < 600; i++) {
        err_t err = co_sleep(CO_MS(10));

        err_free(&err);
        disk_room_add(r, free);
        if (disk_room_lacks(r, 0, floor) == DISK_LACKS_FREE)
            return true;
    }
    return false;
}

static void the_last_bytes_of_a_disk_stay(void **state)
{
    struct disk *d = new_disk();
    struct disk_room r = { 0 };
    struct disk_count *c = disk_count_new(dir, ends, false);
    int64_t size, free;

    (void)state;
    disk_count_step(c);
    size = c->size;
    free = c->free;
    disk_count_free(c);
    disk_room_open(&r, d, dir);
    assert_true(spent_all(&r, free, 1 << 20) || size < 20 << 20);
    disk_room_close(&r);
    disk_room_open(&r, d, dir); /* a limit that is most of a small disk is ignored */
    assert_int_equal(disk_room_lacks(&r, 0, size), DISK_LACKS_NOTHING);
    disk_room_close(&r);
    disk_free(d, 0);
}

static int start(void **state)
{
    (void)state;
    return err_code(co_init()) ? 1 : 0;
}

#define IN_DIR(f) cmocka_unit_test_setup_teardown(f, dir_make, dir_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(files_are_counted), IN_DIR(it_is_done_in_steps), TEST(folders_are_found),
        IN_DIR(a_quota_ends_and_comes_back), IN_DIR(workers_share_a_folder),
        IN_DIR(the_last_bytes_of_a_disk_stay),
    };

    return cmocka_run_group_tests(tests, start, NULL);
}
