/* SPDX-License-Identifier: MIT */
/* test_app_pid_file.c - one server per pid file, and its server id. */
#include "app/identity.h"
#include "app/os/pid_file.h"
#include "temp_dir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[128], id_path[128];

static int setup(void **state)
{
    int bad = dir_make(state);

    (void)snprintf(path, sizeof(path), "%s/srs.pid", dir);
    (void)snprintf(id_path, sizeof(id_path), "%s/srs.id", dir);
    return bad;
}

static void put(const char *file, const char *text)
{
    FILE *f = fopen(file, "w");

    assert_non_null(f);
    (void)fputs(text, f);
    (void)fclose(f);
}

static void assert_content(const char *file, const char *want)
{
    char text[256] = { 0 };
    FILE *f = fopen(file, "r");

    assert_non_null(f);
    (void)!fread(text, 1, sizeof(text) - 1, f);
    (void)fclose(f);
    assert_string_equal(text, want);
}

static void test_it_holds_the_pid_and_goes_with_the_server(void **state)
{
    struct pid_file p;

    (void)state;
    put(path, "a much longer old content");
    assert_ok(pid_file_lock(&p, path));
    pid_file_unlock(&p);
    assert_int_equal(access(path, F_OK), -1);
    pid_file_unlock(&p);
}

/* A process that holds the file until `done` is closed. */
static pid_t holder(int *done)
{
    int ready[2], end[2];
    char c;
    pid_t pid;

    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(end), 0);
    pid = fork();
    if (pid == 0) {
        struct pid_file p;
        err_t err = pid_file_lock(&p, path);

        (void)close(end[1]);
        (void)!write(ready[1], err ? "n" : "y", 1);
        (void)!read(end[0], &c, 1);
        _exit(err != NULL);
    }
    assert_int_equal(read(ready[0], &c, 1), 1);
    assert_int_equal(c, 'y');
    (void)close(ready[0]);
    (void)close(ready[1]);
    (void)close(end[0]);
    *done = end[1];
    return pid;
}

static void test_a_second_one_is_told_who_has_it(void **state)
{
    struct pid_file p;
    char text[512], want[64];
    int done, status;
    pid_t pid = holder(&done);
    err_t err;

    (void)state;
    (void)snprintf(want, sizeof(want), "%d", (int)pid);
    assert_content(path, want);
    err = pid_file_lock(&p, path);
    assert_int_equal(err_code(err), ERR_PID_FILE);
    (void)snprintf(want, sizeof(want), "held by process %d: a server already runs", (int)pid);
    assert_non_null(strstr(err_text(err, text, sizeof(text)), want));
    err_free(&err);
    assert_int_equal(access(path, F_OK), 0); /* and the file stays unchanged */

    (void)close(done); /* that process dies and leaves its file: the next one gets it */
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_ok(pid_file_lock(&p, path));
    pid_file_unlock(&p);
}

static void test_a_folder_that_is_not_there(void **state)
{
    struct pid_file p;
    char deep[160];

    (void)state;
    (void)snprintf(deep, sizeof(deep), "%s/none/srs.pid", dir);
    assert_err(pid_file_lock(&p, deep), ERR_PID_FILE);
    pid_file_unlock(&p);
}

static const struct {
    const char *path, *suffix, *want;
} beside_rows[] = {
    { "./objs/srs.pid", ".id", "./objs/srs.id" },
    { "/run/srs", ".id", "/run/srs.id" },
    { ".pid", ".id", ".id" },
    { "a.pid.b", ".id", "a.pid.b.id" },
    { "", ".id", ".id" },
};

static void test_id_file_next_to_the_pid_file(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(beside_rows); i++) {
        char *got = pid_file_beside(beside_rows[i].path, beside_rows[i].suffix);

        assert_string_equal(got, beside_rows[i].want);
        free(got);
    }
}

static void test_the_id_is_made_once_and_kept(void **state)
{
    char first[IDENTITY_SIZE], again[IDENTITY_SIZE];

    (void)state;
    assert_ok(identity_get("", path, first));
    assert_int_equal(strlen(first), strlen("vid-xxxxxxx"));
    assert_memory_equal(first, "vid-", 4);
    assert_content(id_path, first);
    assert_ok(identity_get("", path, again));
    assert_string_equal(again, first);
    assert_ok(identity_get("mine", path, again));
    assert_string_equal(again, "mine");
    assert_content(id_path, first);
}

static void test_a_damaged_id_is_replaced(void **state)
{
    static const char *const bad[] = { "", "\n", "a b", "a\x01", "\"x\"" };
    char id[IDENTITY_SIZE];

    (void)state;
    for (size_t i = 0; i < COUNT(bad); i++) {
        put(id_path, bad[i]);
        assert_ok(identity_get("", path, id));
        assert_memory_equal(id, "vid-", 4);
        assert_content(id_path, id);
    }
    put(id_path, "vid-1234567\n");
    assert_ok(identity_get("", path, id));
    assert_string_equal(id, "vid-1234567");
}

static void test_an_id_that_cannot_be_kept_is_one_all_the_same(void **state)
{
    char id[IDENTITY_SIZE], deep[160];

    (void)state;
    (void)snprintf(deep, sizeof(deep), "%s/none/srs.pid", dir);
    assert_err(identity_get("", deep, id), ERR_SYSTEM);
    assert_memory_equal(id, "vid-", 4);
}

#define PID_TEST(f) cmocka_unit_test_setup_teardown(f, setup, dir_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        PID_TEST(test_it_holds_the_pid_and_goes_with_the_server),
        PID_TEST(test_a_second_one_is_told_who_has_it),
        PID_TEST(test_a_folder_that_is_not_there),
        PID_TEST(test_id_file_next_to_the_pid_file),
        PID_TEST(test_the_id_is_made_once_and_kept),
        PID_TEST(test_a_damaged_id_is_replaced),
        PID_TEST(test_an_id_that_cannot_be_kept_is_one_all_the_same),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
