/* SPDX-License-Identifier: MIT */
/* test_app_memory.c - memory limits of control groups. */
#include "app/os/memory.h"
#include "env.h"
#include "proto/rtmp/chunk_in.h"
#include "session/workers.h"
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

/* ---- workers */

enum { MB = 1 << 20, MOST = 4 };

static const struct {
    unsigned n;
    size_t whole, taken[MOST], parts[MOST]; /* megabytes */
} shares[] = {
    { 2, 800, { 0, 0 }, { 400, 400 } },
    { 4, 800, { 0, 0, 0, 0 }, { 200, 200, 200, 200 } },
    { 2, 800, { 600, 0 }, { 700, 200 } }, /* half of an equal share, even if others use the rest */
    { 2, 800, { 600, 100 }, { 650, 200 } },
    { 2, 800, { 800, 0 }, { 800, 200 } },
    { 2, 800, { 800, 200 }, { 640, 200 } },
    { 4, 800, { 800, 400, 400, 0 }, { 400, 200, 200, 100 } },
    { 2, 0, { 600, 100 }, { 0, 0 } }, /* no limit */
    { 2, 0, { 0, 0 }, { 0, 0 } },
};

/* One registry holds the memory of all workers in this test: its counter is set for each. */
static void test_workers_share(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++) {
        struct workers *w = calloc(1, sizeof(*w));
        struct rtmp_in_pool messages = { 0 };
        struct session_env *env = env_new("listen 1935;");

        assert_non_null(w);
        env->workers = w;
        env->messages = &messages;
        env->whole_memory = env->whole_messages = shares[i].whole * MB;
        w->n = shares[i].n;
        for (unsigned turn = 0; turn < 2 * w->n; turn++) {
            env->worker = turn % w->n;
            *live_registry_counter(env->streams) = shares[i].taken[env->worker] * MB;
            messages.used = shares[i].taken[env->worker] * MB;
            memory_share(env);
            if (turn < w->n) /* not all have reported yet */
                continue;
            if (live_registry_memory(env->streams)->limit != shares[i].parts[env->worker] * MB)
                fail_msg("row %zu: worker %u may take %zu MB, want %zu", i, env->worker,
                         live_registry_memory(env->streams)->limit / MB,
                         shares[i].parts[env->worker]);
            assert_int_equal(messages.limit, live_registry_memory(env->streams)->limit);
        }
        *live_registry_counter(env->streams) = 0;
        env_free(&env);
        free(w);
    }
}

/* Each has room for a large frame, even if others use everything. */
static void test_messages_have_some(void **state)
{
    static const struct {
        size_t whole, others, part;
    } want[] = { { 16, 0, 8 }, { 16, 16, 8 }, { 4, 0, 4 }, { 80, 0, 20 }, { 80, 80, 10 } };

    (void)state;
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        struct workers *w = calloc(1, sizeof(*w));
        struct rtmp_in_pool messages = { 0 };
        struct session_env *env = env_new("listen 1935;");

        assert_non_null(w);
        env->workers = w;
        env->messages = &messages;
        env->whole_messages = want[i].whole * MB;
        w->n = 4;
        w->v[1].gauges.messages = want[i].others * MB;
        memory_share(env);
        assert_int_equal(messages.limit, want[i].part * MB);
        env_free(&env);
        free(w);
    }
}

static void test_one_worker_has_all(void **state)
{
    struct session_env *env = env_new("listen 1935; limits { memory 64m; max_partial_total 8m; }");
    struct rtmp_in_pool messages = { 0 };

    (void)state;
    env->messages = &messages;
    memory_apply(env);
    memory_share(env);
    assert_int_equal(live_registry_memory(env->streams)->limit, 64 * MB);
    assert_int_equal(messages.limit, 8 * MB);
    env_free(&env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_groups, dir_make, dir_remove),
        TEST(test_workers_share), TEST(test_messages_have_some),
        TEST(test_one_worker_has_all),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
