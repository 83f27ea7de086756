/* SPDX-License-Identifier: MIT */
/* test_app_signals.c - requests of the operator: signals, changes of the file; and containers. */
#include "app/autoreload.h"
#include "app/os/docker.h"
#include "app/os/signals.h"
#include "co/co.h"
#include "temp_dir.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int setup(void **state)
{
    err_t err = co_init();

    (void)state;
    if (!err)
        err = signals_init();
    return err != NULL;
}

static int teardown(void **state)
{
    signals_fini();
    return nothing_left(state);
}

static const struct {
    int sig;
    unsigned event;
} rows[] = {
    { SIGHUP, SIGNALS_RELOAD }, { SIGUSR1, SIGNALS_REOPEN }, { SIGTERM, SIGNALS_TERM },
    { SIGINT, SIGNALS_INT },    { SIGQUIT, SIGNALS_GRACE },
};

/* The parent process may have left signals blocked. */
static void test_what_was_blocked_before_is_heard(void **state)
{
    sigset_t all;

    signals_fini();
    (void)sigfillset(&all);
    assert_int_equal(pthread_sigmask(SIG_BLOCK, &all, NULL), 0);
    assert_int_equal(setup(state), 0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(raise(rows[i].sig), 0);
        assert_int_equal(signals_wait(CO_SECONDS(5)), rows[i].event);
    }
}

static void test_each_signal_is_its_event(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_int_equal(raise(rows[i].sig), 0);
        assert_int_equal(signals_wait(CO_SECONDS(5)), rows[i].event);
    }
    assert_int_equal(signals_wait(CO_MS(5)), 0);
}

static void test_signals_that_come_together_are_told_together(void **state)
{
    (void)state;
    for (int n = 0; n < 3; n++) {
        (void)raise(SIGHUP);
        (void)raise(SIGUSR1);
    }
    assert_int_equal(signals_wait(CO_SECONDS(5)), SIGNALS_RELOAD | SIGNALS_REOPEN);
    assert_int_equal(signals_wait(CO_MS(5)), 0);
}

static void test_what_comes_before_the_start_is_done_is_kept(void **state)
{
    (void)state;
    signals_fini();
    (void)signal(SIGHUP, SIG_DFL); /* as in a new process: either one would end it */
    (void)signal(SIGUSR1, SIG_DFL);
    signals_hold();
    (void)raise(SIGHUP);
    (void)raise(SIGUSR1);
    assert_ok(signals_init());
    assert_int_equal(signals_wait(CO_SECONDS(5)), SIGNALS_RELOAD | SIGNALS_REOPEN);
    assert_int_equal(raise(SIGHUP), 0);
    assert_int_equal(signals_wait(CO_SECONDS(5)), SIGNALS_RELOAD);
}

static void test_who_waits_for_one_leaves_the_others(void **state)
{
    (void)state;
    (void)raise(SIGHUP);
    assert_int_equal(signals_wait_for(SIGNALS_FAST, CO_MS(20)), 0);
    (void)raise(SIGTERM);
    assert_int_equal(signals_wait_for(SIGNALS_FAST, CO_SECONDS(5)), SIGNALS_TERM);
    assert_int_equal(signals_wait(CO_SECONDS(5)), SIGNALS_RELOAD);
}

static err_t raise_later(void *arg)
{
    err_t err = co_sleep(CO_MS(30));

    (void)arg;
    (void)kill(getpid(), SIGQUIT);
    return err;
}

static void test_a_signal_wakes_who_waits(void **state)
{
    struct co_group g;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "raise", raise_later, NULL));
    assert_int_equal(signals_wait(CO_FOREVER), SIGNALS_GRACE);
    assert_ok(co_group_wait(&g));
}

static char path[128];

static void sub(char out[160], const char *name)
{
    (void)snprintf(out, 160, "%s/%s", dir, name);
}

static void put(const char *name, const char *text)
{
    char file[160];
    FILE *f;

    sub(file, name);
    f = fopen(file, "w");
    assert_non_null(f);
    (void)fputs(text, f);
    (void)fclose(f);
}

static int dir_setup(void **state)
{
    int bad = dir_make(state);

    (void)snprintf(path, sizeof(path), "%s/srs.conf", dir);
    put("srs.conf", "one");
    return bad;
}

static void test_a_change_is_told_once_and_not_too_often(void **state)
{
    struct autoreload a;

    (void)state;
    assert_ok(autoreload_open(&a, path));
    assert_false(autoreload_due(&a, 0));
    put("srs.conf", "two");
    assert_true(autoreload_due(&a, CO_SECONDS(1)));
    assert_false(autoreload_due(&a, CO_SECONDS(10)));
    put("srs.conf", "three");
    put("srs.conf", "four");
    assert_true(autoreload_due(&a, CO_SECONDS(20)));
    put("srs.conf", "five");
    assert_false(autoreload_due(&a, CO_SECONDS(21))); /* less than 3 s after the last */
    assert_false(autoreload_due(&a, CO_SECONDS(22)));
    assert_true(autoreload_due(&a, CO_SECONDS(23)));
    put("srs.conf", "six");
    autoreload_forget(&a);
    assert_false(autoreload_due(&a, CO_SECONDS(40)));
    autoreload_close(&a);
}

static void test_other_files_and_half_written_ones_are_no_change(void **state)
{
    struct autoreload a;
    int fd;

    (void)state;
    assert_ok(autoreload_open(&a, path));
    put("srs.conf.swp", "x");
    put("other.conf", "x");
    fd = open(path, O_WRONLY | O_TRUNC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "half", 4), 4);
    assert_false(autoreload_due(&a, CO_SECONDS(1)));
    (void)close(fd);
    assert_true(autoreload_due(&a, CO_SECONDS(2)));
    autoreload_close(&a);
}

static void test_a_file_renamed_into_place_is_a_change(void **state)
{
    struct autoreload a;
    char from[160];

    (void)state;
    assert_ok(autoreload_open(&a, path));
    put("new", "x");
    assert_false(autoreload_due(&a, CO_SECONDS(1)));
    sub(from, "new");
    assert_int_equal(rename(from, path), 0);
    assert_true(autoreload_due(&a, CO_SECONDS(2)));
    autoreload_close(&a);
}

static void test_links_of_a_mounted_configuration(void **state)
{
    struct autoreload a;
    char tmp[160], data[160];

    (void)state;
    sub(tmp, "..data_tmp");
    sub(data, "..data");
    assert_int_equal(symlink("v1", data), 0);
    assert_ok(autoreload_open(&a, path));
    assert_int_equal(symlink("v2", tmp), 0);
    assert_int_equal(rename(tmp, data), 0);
    assert_true(autoreload_due(&a, CO_SECONDS(2)));
    autoreload_close(&a);
}

static void test_a_folder_that_cannot_be_watched(void **state)
{
    struct autoreload a;

    (void)state;
    assert_err(autoreload_open(&a, "/no/such/folder/srs.conf"), ERR_SYSTEM);
    assert_false(autoreload_due(&a, CO_SECONDS(100)));
    autoreload_close(&a);
}

static const struct {
    const char *text;
    bool inside;
} cgroups[] = {
    { "", false },
    { "0::/init.scope\n", false },
    { "0::/\n", false },
    { "12:pids:/docker/8a0b\n11:cpu:/docker/8a0b\n", true },
    { "0::/kubepods.slice/kubepods-pod1.slice\n", true },
    { "1:name=systemd:/lxc/101\n", true },
    { "0::/system.slice/docker.service\n", false },
};

static void test_containers(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cgroups); i++) {
        print_message("  %s", *cgroups[i].text ? cgroups[i].text : "(empty)\n");
        assert_int_equal(docker_cgroup(cgroups[i].text), cgroups[i].inside);
    }
}

#define SIGNAL_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define DIR_TEST(f) cmocka_unit_test_setup_teardown(f, dir_setup, dir_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SIGNAL_TEST(test_each_signal_is_its_event),
        SIGNAL_TEST(test_what_was_blocked_before_is_heard),
        SIGNAL_TEST(test_signals_that_come_together_are_told_together),
        SIGNAL_TEST(test_what_comes_before_the_start_is_done_is_kept),
        SIGNAL_TEST(test_who_waits_for_one_leaves_the_others),
        SIGNAL_TEST(test_a_signal_wakes_who_waits),
        DIR_TEST(test_a_change_is_told_once_and_not_too_often),
        DIR_TEST(test_other_files_and_half_written_ones_are_no_change),
        DIR_TEST(test_a_file_renamed_into_place_is_a_change),
        DIR_TEST(test_links_of_a_mounted_configuration),
        DIR_TEST(test_a_folder_that_cannot_be_watched),
        TEST(test_containers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
