/* SPDX-License-Identifier: MIT */
/* test_app_crash.c - a crashing program reports where it crashed, and still dies. */
#include "app/dev/crash.h"
#include "app/log/file.h"
#include "base/log.h"
#include "co/co.h"
#include "conf/conf.h"
#include "temp_dir.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[128], text[1 << 16];

static int setup(void **state)
{
    int bad = dir_make(state);

    (void)snprintf(path, sizeof(path), "%s/a.log", dir);
    return bad;
}

static volatile uintptr_t nowhere = 8;

__attribute__((noinline)) static err_t bad_pointer(void *arg)
{
    *(volatile int *)nowhere = arg != NULL;
    return NULL;
}

__attribute__((noinline)) static err_t bad_state(void *arg)
{
    if (!arg)
        abort();
    return NULL;
}

/* Far deeper than a coroutine's stack. */
__attribute__((noinline)) static int too_deep(volatile int depth)
{
    volatile char room[1024];

    room[0] = (char)depth;
    return depth == 0 ? 0 : too_deep(depth - 1) + room[0];
}

static err_t overflow(void *arg)
{
    (void)arg;
    return too_deep(10000) ? NULL : NULL;
}

static err_t read_file(void *arg, const char *name, char **out, size_t *size)
{
    (void)name;
    (void)arg;
    *size = (size_t)asprintf(out, "listen 1935;\nsrs_log_file %s;\nvhost __defaultVhost__ {\n}\n",
                             path);
    return NULL;
}

static const char *no_env(void *arg, const char *name)
{
    (void)arg;
    (void)name;
    return NULL;
}

static void *other(void *unused)
{
    (void)unused;
    log_file_join();
    for (int i = 0; i < 100; i++)
        log_trace("other %d", i);
    log_file_leave();
    return NULL;
}

/* A second thread logs, too, and ends. */
static void several(void)
{
    pthread_t id;

    log_file_join();
    log_trace("before others");
    if (pthread_create(&id, NULL, other, NULL) || pthread_join(id, NULL))
        _exit(3);
}

static err_t die(co_fn *fn)
{
    struct co_group g;
    err_t err;

    co_group_init(&g);
    err = co_go(&g, "dying", fn, NULL);
    return err ? err : co_group_wait(&g);
}

struct worker {
    co_fn *fn;
};

static void *worker(void *w)
{
    err_t err = co_init();

    crash_thread_init();
    co_set_number(3);
    log_file_join();
    if (!err)
        err = die(((struct worker *)w)->fn);
    _exit(4);
}

/* A second thread crashes that was started with all signals blocked. */
static void die_on_another(co_fn *fn)
{
    struct worker w = { fn };
    sigset_t all;
    pthread_t id;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
    if (pthread_create(&id, NULL, worker, &w))
        _exit(5);
    (void)pthread_join(id, NULL);
}

enum who { ALONE, BESIDE, WORKER };

/* The crashing program, in a separate process. */
__attribute__((noreturn)) static void child(co_fn *fn, enum who who)
{
    const struct conf_source src = { .path = "x", .read = read_file, .getenv = no_env };
    const struct rlimit no_core = { 0, 0 };
    struct conf *c = NULL;
    err_t err;

    (void)setrlimit(RLIMIT_CORE, &no_core);
    (void)dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
    err = conf_load(&c, &src, NULL);
    if (err)
        _exit(1);
    log_file_open(c);
    crash_init(false);
    err = log_file_start();
    if (!err)
        err = co_init();
    if (!err && who == BESIDE)
        several();
    for (int i = 0; i < 100; i++)
        log_trace("line %d", i);
    if (!err && who == WORKER)
        die_on_another(fn);
    else if (!err)
        err = die(fn);
    _exit(2);
}

static int died_of(co_fn *fn, enum who who)
{
    int status = 0;
    pid_t pid = fork();
    FILE *f;

    if (pid == 0)
        child(fn, who);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, sizeof(text) - 1, f)] = '\0';
    (void)fclose(f);
    print_message("%s", strstr(text, "crash:") ? strstr(text, "crash:") : "(nothing)\n");
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static const struct {
    const char *name;
    co_fn *fn;
    int sig;
    const char *words, *who_text, *where;
    enum who who;
} rows[] = {
    { "a bad pointer", bad_pointer, SIGSEGV, "crash: signal 11 at address 0x8",
      "0x8, coroutine dying", "bad_pointer", ALONE },
    { "abort", bad_state, SIGABRT, "crash: signal 6", "6, coroutine dying", "bad_state", ALONE },
    { "abort, next to others", bad_state, SIGABRT, "crash: signal 6", "6, coroutine dying",
      "bad_state", BESIDE },
    { "a stack that runs over", overflow, SIGSEGV, "crash: signal 11 at address 0x",
      ", coroutine dying", "too_deep", ALONE },
    { "abort, of a worker", bad_state, SIGABRT, "crash: signal 6", ", worker 3, coroutine dying",
      "bad_state", WORKER },
    { "a stack of a worker runs over", overflow, SIGSEGV, "crash: signal 11 at address 0x",
      ", worker 3, coroutine dying", "too_deep", WORKER },
};

static void test_deaths(void **state)
{
    (void)state;
#if defined(__SANITIZE_ADDRESS__)
    skip(); /* reported in the sanitizer's own format */
#endif
    for (size_t i = 0; i < COUNT(rows); i++) {
        print_message("  %s\n", rows[i].name);
        (void)unlink(path);
        assert_int_equal(died_of(rows[i].fn, rows[i].who), rows[i].sig);
        assert_non_null(strstr(text, "] line 0\n"));
        assert_non_null(strstr(text, "] line 99\n"));
        if (rows[i].who == BESIDE) {
            assert_true(strstr(text, "] before others\n") < strstr(text, "] other 0\n"));
            assert_true(strstr(text, "] other 99\n") < strstr(text, "] line 0\n"));
        }
        assert_non_null(strstr(text, rows[i].words));
        assert_non_null(strstr(text, rows[i].who_text));
        assert_non_null(strstr(text, rows[i].where));
        assert_non_null(strstr(strstr(text, "line 99"), "[ERROR]["));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_deaths, setup, dir_remove),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
