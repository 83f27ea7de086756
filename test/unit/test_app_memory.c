/* SPDX-License-Identifier: MIT */
/* test_app_memory.c - how much memory control groups leave the process. */
#include "app/os/memory.h"
#include "temp_dir.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES = 4 };

static const struct {
    const char *groups; /* /proc/self/cgroup, NULL: none */
    struct {
        const char *path, *text; /* below /sys/fs/cgroup */
    } files[FILES];
    int64_t most;
} rows[] = {
    { NULL, { { NULL, NULL } }, 0 },
    { "0::/\n", { { "memory.max", "1000\n" } }, 1000 },
    { NULL, { { "memory.max", "1000\n" } }, 1000 },
    { "0::/\n", { { "memory.max", "max\n" } }, 0 },
    { "0::/a.slice/b.service\n", { { "a.slice/b.service/memory.max", "300\n" } }, 300 },
    { "0::/a.slice/b.service\n",
      { { "a.slice/b.service/memory.max", "max\n" }, { "a.slice/memory.max", "200\n" } }, 200 },
    { "0::/a/b\n", { { "a/b/memory.max", "300\n" }, { "a/memory.max", "200\n" },
                     { "memory.max", "100\n" }, { "a/c/memory.max", "1\n" } }, 100 },
    { "9:memory:/docker/1\n8:cpu,cpuacct:/docker/2\n0::/x\n",
      { { "memory/memory.limit_in_bytes", "400\n" },
        { "memory/docker/2/memory.limit_in_bytes", "1\n" } }, 400 },
    { "8:cpu:/x\n9:hugetlb,memory:/s/srs.service\n",
      { { "memory/memory.limit_in_bytes", "9223372036854771712\n" },
        { "memory/s/srs.service/memory.limit_in_bytes", "500\n" } }, 500 },
    { "9:memory:/s\n", { { "memory/s/memory.limit_in_bytes", "9223372036854771712\n" } }, 0 },
    { "0::/a\n9:memory:/b\n",
      { { "a/memory.max", "700\n" }, { "memory/b/memory.limit_in_bytes", "600" } }, 600 },
    { "garbage\n::\n:\n0::/a", { { "a/memory.max", "-5\n" } }, 0 },
    { "0::/a\n", { { "a/memory.max", "99999999999999999999999\n" } }, 0 },
};

static void put(const char *root, const char *below, const char *text)
{
    char path[512];
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", root, below);
    for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
        *p = '\0';
        (void)mkdir(path, 0755);
        *p = '/';
    }
    f = fopen(path, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
}

static void test_groups(void **state)
{
    char name[64], path[256];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)snprintf(name, sizeof(name), "%s/%zu", dir, i);
        assert_int_equal(mkdir(name, 0755), 0);
        if (rows[i].groups)
            put(name, "proc/self/cgroup", rows[i].groups);
        for (size_t k = 0; k < FILES && rows[i].files[k].path; k++) {
            (void)snprintf(path, sizeof(path), "sys/fs/cgroup/%s", rows[i].files[k].path);
            put(name, path, rows[i].files[k].text);
        }
        if (memory_of_groups(name) != rows[i].most)
            fail_msg("row %zu: %lld, want %lld", i, (long long)memory_of_groups(name),
                     (long long)rows[i].most);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test_setup_teardown(test_groups, dir_make, dir_remove) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
