/* SPDX-License-Identifier: MIT */
/* test_base_mem.c - memory that the system may refuse: the rest must suffice for all threads. */
#include "base/mem.h"
#include "unit.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MB = 1 << 20 };

static const struct {
    const char *name;
    unsigned threads;
    int left; /* MB that the system grants */
    bool there;
} rows[] = {
    { "plenty", 1, 200, true },
    { "plenty for many", 64, 200, true },
    { "enough for one", 1, 30, true },
    { "too little for many", 64, 30, false },
    { "too little", 1, 4, false },
};

static rlim_t mapped(void)
{
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%lu", &pages) != 1)
        pages = 0;
    if (f)
        (void)fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* In a separate process with this limit. */
static int is_left(unsigned threads, int left)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        rlim_t most = mapped() + (rlim_t)left * MB;
        const struct rlimit r = { most, most };

        mem_threads(threads);
        if (setrlimit(RLIMIT_AS, &r) < 0)
            _exit(2);
        _exit(mem_left() && mem_may(1000));
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void test_left(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* they use the address space themselves */
#endif
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        assert_int_equal(is_left(rows[i].threads, rows[i].left), rows[i].there);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
