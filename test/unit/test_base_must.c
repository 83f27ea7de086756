/* SPDX-License-Identifier: MIT */
/* test_base_must.c - small allocations that cannot fail, and the way from a member to its
 * structure. */
#include "unit.h"

#include "base/container_of.h"
#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void gives_what_it_got(void **state)
{
    int x = 0;

    (void)state;
    assert_ptr_equal(must(&x), &x);
    must_be(true);
}

static void copies(void **state)
{
    char *all = must_dup("stream"), *part = must_ndup("stream", 3), *none = must_ndup("", 3);

    (void)state;
    assert_string_equal(all, "stream");
    assert_string_equal(part, "str");
    assert_string_equal(none, "");
    free(all);
    free(part);
    free(none);
}

static void prints(void **state)
{
    char *brief = must_print("%s/%d", "a", 7), *empty = must_print("%s", "");
    char *text = must_print("%0*d", 5000, 1);

    (void)state;
    assert_string_equal(brief, "a/7");
    assert_string_equal(empty, "");
    assert_int_equal(strlen(text), 5000);
    free(brief);
    free(empty);
    free(text);
}

static void no_memory(void)
{
    (void)must(NULL);
}

static void no_random_numbers(void)
{
    must_be(false);
}

/* In a separate process: its signal, and its output. */
static int end_of(void (*f)(void), char *said, size_t size)
{
    int fds[2], status;
    ssize_t n;
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        (void)signal(SIGABRT, SIG_DFL);
        (void)dup2(fds[1], STDERR_FILENO);
        f();
        _exit(0);
    }
    (void)close(fds[1]);
    n = read(fds[0], said, size - 1);
    (void)close(fds[0]);
    said[n > 0 ? n : 0] = '\0';
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void ends_the_process(void **state)
{
    void (*const all[])(void) = { no_memory, no_random_numbers };
    char said[200];

    (void)state;
    for (size_t i = 0; i < COUNT(all); i++) {
        assert_int_equal(end_of(all[i], said, sizeof(said)), SIGABRT);
        assert_non_null(strstr(said, "no more memory"));
    }
}

struct whole {
    int before;
    struct part {
        char text[3];
    } part;
    const char *after;
};

static void finds_the_whole(void **state)
{
    struct whole w = { 0 };
    const int *before = &w.before;

    (void)state;
    assert_ptr_equal(container_of(&w.part, struct whole, part), &w);
    assert_ptr_equal(container_of(&w.after, struct whole, after), &w);
    assert_ptr_equal(container_of(before, struct whole, before), &w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(gives_what_it_got),
        TEST(copies),
        TEST(prints),
        TEST(ends_the_process),
        TEST(finds_the_whole),
    };

    return cmocka_run_group_tests_name("must", tests, NULL, NULL);
}
