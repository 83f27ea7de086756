/* SPDX-License-Identifier: MIT */
/* test_app_cores.c - number of available cores, and placement of workers. */
#include "app/os/cgroup.h"
#include "app/os/cores.h"
#include "co/co.h"
#include "co/thread.h"
#include "conf_mem.h"
#include "temp_dir.h"

#include <pthread.h>
#include <sys/stat.h>

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

static const struct {
    const char *quota; /* cpu.max; NULL: no such file */
    double cores;
    int least;         /* result, on a machine with enough cores */
} quotas[] = {
    { NULL, 0, 0 },
    { "max 100000\n", 0, 0 },
    { "50000 100000\n", 0.5, 1 },
    { "150000 100000\n", 1.5, 1 },
    { "200000 100000\n", 2, 2 },
    { "100000000 100000\n", 1000, 0 },
};

static void quota(void **state)
{
    int all = CPU_COUNT(co_pin_allowed());

    (void)state;
    assert_true(all > 0);
    for (size_t i = 0; i < COUNT(quotas); i++) {
        int want = quotas[i].least && quotas[i].least < all ? quotas[i].least : all;
        char root[64];

        (void)snprintf(root, sizeof(root), "%s/%zu", dir, i);
        assert_int_equal(mkdir(root, 0755), 0);
        put(root, "proc/self/cgroup", "0::/\n");
        if (quotas[i].quota)
            put(root, "sys/fs/cgroup/cpu.max", quotas[i].quota);
        assert_true(cgroup_cores(root) == quotas[i].cores);
        assert_int_equal(cores_count(root), want);
    }
}

static void number_of_workers(void **state)
{
    struct conf *one = mem_conf("listen 1935;"), *some = mem_conf("listen 1935; workers 7;");
    struct conf *any = mem_conf("listen 1935; workers auto;");
    int most = cores_count("");

    (void)state;
    assert_int_equal(cores_workers(one), 1);
    assert_int_equal(cores_workers(some), 7);
    assert_int_equal(cores_workers(any), most < CONF_WORKERS_MAX ? most : CONF_WORKERS_MAX);
    conf_unref(one);
    conf_unref(some);
    conf_unref(any);
}

static const struct {
    const char *words;
    unsigned worker;
    unsigned long mask; /* 0: the system chooses */
} masks[] = {
    { "", 0, 0 },
    { "1", 0, 1 },
    { "0001 0110 1000", 0, 1 },
    { "0001 0110 1000", 1, 6 },
    { "0001 0110 1000", 2, 8 },
    { "0001 0110 1000", 3, 8 },
    { "0001 0110 1000", 63, 8 },
};

static void written_masks(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(masks); i++) {
        char text[128];
        struct conf *c;
        cpu_set_t set;

        (void)snprintf(text, sizeof(text), "listen 1935; workers 64; worker_cpu_affinity %s;",
                       masks[i].words);
        c = mem_conf(text);
        assert_int_equal(cores_of_worker(c, masks[i].worker, &set), masks[i].mask != 0);
        for (size_t k = 0; masks[i].mask && k < CPU_SETSIZE; k++)
            assert_int_equal(CPU_ISSET(k, &set) != 0, k < 64 && masks[i].mask >> k & 1);
        conf_unref(c);
    }
}

/* Each worker gets one of the available cores in turn, then the first one again. */
static void automatic(void **state)
{
    struct conf *c = mem_conf("listen 1935; workers auto; worker_cpu_affinity auto;");
    unsigned n = (unsigned)CPU_COUNT(co_pin_allowed());
    cpu_set_t seen, set, first;

    (void)state;
    CPU_ZERO(&seen);
    assert_true(cores_of_worker(c, 0, &first));
    for (unsigned i = 0; i < n; i++) {
        assert_true(cores_of_worker(c, i, &set));
        assert_int_equal(CPU_COUNT(&set), 1);
        CPU_OR(&seen, &seen, &set);
    }
    assert_true(CPU_EQUAL(&seen, co_pin_allowed()));
    assert_true(cores_of_worker(c, n, &set));
    assert_true(CPU_EQUAL(&set, &first));
    conf_unref(c);
}

/* A mask after auto excludes some cores; a mask that excludes all is an error. */
static void automatic_with_mask(void **state)
{
    char text[CPU_SETSIZE + 128], mask[CPU_SETSIZE + 1];
    size_t lowest = 0;
    struct conf *c;
    cpu_set_t set;

    (void)state;
    while (!CPU_ISSET(lowest, co_pin_allowed()))
        lowest++;
    memset(mask, '0', sizeof(mask));
    mask[0] = '1';
    mask[lowest + 1] = '\0';
    (void)snprintf(text, sizeof(text), "listen 1935; worker_cpu_affinity auto %s;", mask);
    c = mem_conf(text);
    for (unsigned i = 0; i < 3; i++) {
        assert_true(cores_of_worker(c, i, &set));
        assert_int_equal(CPU_COUNT(&set), 1);
        assert_true(CPU_ISSET(lowest, &set));
    }
    conf_unref(c);
    memset(mask, '0', sizeof(mask));
    mask[0] = '1';
    mask[CPU_SETSIZE] = '\0';
    (void)snprintf(text, sizeof(text), "listen 1935; worker_cpu_affinity auto %s;", mask);
    c = mem_conf(text);
    assert_int_equal(cores_of_worker(c, 0, &set), CPU_ISSET(CPU_SETSIZE - 1, co_pin_allowed()));
    conf_unref(c);
}

/* ---- pinned */

static void look(void *arg)
{
    cpu_set_t *set = arg;

    if (sched_getaffinity(0, sizeof(*set), set) < 0)
        CPU_ZERO(set);
}

static void *pinned_main(void *arg)
{
    const struct conf *c = arg;
    static const char *failed;
    cpu_set_t set, wanted, helper;
    err_t err = co_init();

    failed = NULL;
    cores_pin(c, 0);
    if (!cores_of_worker(c, 0, &wanted) || sched_getaffinity(0, sizeof(set), &set) < 0 ||
        !CPU_EQUAL(&set, &wanted))
        failed = "the thread is not pinned";
    if (!err)
        err = co_thread_run(CO_POOL_FILE, look, &helper, look, CO_SECONDS(5));
    if (err || !CPU_EQUAL(&helper, co_pin_allowed()))
        failed = "what it starts is pinned, too";
    err_free(&err);
    co_threads_end(CO_SECONDS(1));
    co_fini();
    return (void *)(uintptr_t)failed;
}

/* A worker stays pinned; threads that it starts are not, and the process still counts all its
 * cores. */
static void pinned(void **state)
{
    struct conf *c = mem_conf("listen 1935; workers 1; worker_cpu_affinity auto;");
    cpu_set_t before = *co_pin_allowed(), now;
    void *failed = NULL;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, pinned_main, c), 0);
    assert_int_equal(pthread_join(thread, &failed), 0);
    if (failed)
        fail_msg("%s", (const char *)failed);
    look(&now);
    assert_true(CPU_EQUAL(&now, &before));
    assert_true(CPU_EQUAL(co_pin_allowed(), &before));
    conf_unref(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(quota, dir_make, dir_remove), TEST(number_of_workers),
        TEST(written_masks), TEST(automatic), TEST(automatic_with_mask),
        TEST(pinned),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
