/* SPDX-License-Identifier: MIT */
/* test_co_child.c - child processes: their environment, their output, their end. */
#include "co/os/child.h"
#include "unit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char heard[65536];
static size_t heard_size;

static void on_said(void *arg, const char *text, size_t size)
{
    (void)arg;
    for (size_t i = 0; i < size && heard_size + 1 < sizeof(heard); i++)
        heard[heard_size++] = text[i];
    heard[heard_size] = '\0';
}

static int setup(void **state)
{
    err_t err = co_init();

    (void)state;
    return err != NULL;
}

static int count_fds(void)
{
    DIR *d = opendir("/proc/self/fd");
    int n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n;
}

/* Killed ones are reaped by init, which takes its time. */
static void wait_for_none(pid_t group)
{
    for (int i = 0; i < 500 && kill(-group, 0) == 0; i++)
        assert_ok(co_sleep(CO_MS(10)));
    assert_int_equal(kill(-group, 0), -1);
    assert_int_equal(errno, ESRCH);
}

static struct co_child *start(const char *const *argv)
{
    const struct co_child_setup setup = { .argv = argv, .said = on_said };
    struct co_child *c = NULL;

    heard_size = 0;
    heard[0] = '\0';
    assert_ok(co_child_start(&c, &setup));
    return c;
}

static struct co_child *start_shell(const char *script)
{
    return start((const char *const[]){ "sh", "-c", script, NULL });
}

/* Runs it to its end; returns how it ended. */
static const char *run(const char *script)
{
    static char how[64];
    struct co_child *c = start_shell(script);
    bool ended = false;

    assert_ok(co_child_wait(c, CO_SECONDS(10), &ended));
    assert_true(ended);
    co_child_end(c, 0, how, sizeof(how));
    return how;
}

static void ends(void **state)
{
    static const struct {
        const char *script, *how, *heard;
    } rows[] = {
        { "exit 0", "status 0", "" },
        { "exit 7", "status 7", "" },
        { "kill -9 $$", "signal 9", "" },
        { "kill -TERM $$", "signal 15", "" },
        { "echo out; echo err >&2; exit 1", "status 1", "out\nerr\n" },
        { "printf 'no end'", "status 0", "no end" },
        { "cat", "status 0", "" }, /* there is nothing to read */
    };
    int fds = count_fds();

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_string_equal(run(rows[i].script), rows[i].how);
        assert_string_equal(heard, rows[i].heard);
    }
    assert_int_equal(co_child_live(), 0);
    assert_int_equal(count_fds(), fds);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no zombie either */
}

static void says_much(void **state)
{
    (void)state;
    assert_string_equal(run("head -c 60000 /dev/zero | tr '\\0' x"), "status 0");
    assert_int_equal(heard_size, 60000);
}

/* Signal dispositions from the kernel: the C library hides its own. */
static void set_signals(unsigned long handler)
{
    const unsigned long action[4] = { handler };

    for (int sig = 1; sig < _NSIG; sig++)
        if (sig != SIGCHLD && sig != SIGSEGV && sig != SIGABRT && sig != SIGALRM)
            (void)syscall(SYS_rt_sigaction, sig, action, NULL, sizeof(action[0]));
}

static void begins_clean(void **state)
{
    int fd = open("/dev/null", O_RDONLY); /* from a library that does not know close-on-exec */
    const char *how;

    (void)state;
    assert_true(fd > 2);
    set_signals((unsigned long)SIG_IGN); /* as our parent may leave them */
    how = run("ls /proc/self/fd | tr '\\n' ' '; ps -o pgid= -p $$ | tr -d ' ';"
              "grep -h '^Sig[BI]' /proc/self/status | tr -d '\\t'");
    set_signals((unsigned long)SIG_DFL);
    (void)close(fd);
    print_message("%s", heard);
    assert_string_equal(how, "status 0");
    assert_ptr_equal(strstr(heard, "0 1 2 3 "), heard); /* 3 is of ls */
    assert_non_null(strstr(heard, "SigBlk:0000000000000000"));
    assert_non_null(strstr(heard, "SigIgn:0000000000000000"));
}

static void leads_a_group(void **state)
{
    struct co_child *c = start_shell("sleep 100 & sleep 100");
    pid_t pid = co_child_pid(c);
    bool ended = true;

    (void)state;
    assert_ok(co_child_wait(c, CO_MS(200), &ended));
    assert_false(ended);
    assert_int_equal(getpgid(pid), pid);
    assert_int_equal(kill(-pid, 0), 0);
    co_child_end(c, CO_SECONDS(5), NULL, 0);
    wait_for_none(pid);
}

/* The rest of the process group ends with its leader. */
static void leaves_no_process(void **state)
{
    struct co_child *c = start_shell("sleep 100 & echo there; exit 3");
    pid_t pid = co_child_pid(c);
    bool ended = false;
    char how[64];

    (void)state;
    assert_ok(co_child_wait(c, CO_SECONDS(5), &ended));
    assert_true(ended);
    assert_int_equal(kill(-pid, 0), 0);
    co_child_end(c, CO_SECONDS(5), how, sizeof(how));
    assert_string_equal(how, "status 3");
    wait_for_none(pid);
}

static void killed_when_it_does_not_listen(void **state)
{
    struct co_child *c = start_shell("trap '' TERM; echo ready; while :; do sleep 1; done");
    co_usec begin;
    bool ended;
    char how[64];

    (void)state;
    while (!strstr(heard, "ready"))
        assert_ok(co_child_wait(c, CO_MS(10), &ended));
    begin = co_clock();
    co_child_end(c, CO_MS(200), how, sizeof(how));
    assert_string_equal(how, "signal 9");
    assert_true(co_clock() - begin >= CO_MS(200));
    assert_true(co_clock() - begin < CO_SECONDS(20));
}

static void may_tidy_up(void **state)
{
    struct co_child *c = start_shell("trap 'echo bye; exit 5' TERM; echo ready;"
                                     "while :; do sleep 0.05; done");
    bool ended;
    char how[64];

    (void)state;
    while (!strstr(heard, "ready"))
        assert_ok(co_child_wait(c, CO_MS(10), &ended));
    co_child_end(c, CO_SECONDS(5), how, sizeof(how));
    assert_string_equal(how, "status 5");
    assert_non_null(strstr(heard, "bye\n"));
}

struct stopping {
    char how[64];
    bool was_stopped;
};

static err_t waiter(void *arg)
{
    struct stopping *s = arg;
    struct co_child *c = start_shell("trap 'exit 6' TERM; echo ready; while :; do sleep 0.05; done");
    bool ended = false;
    err_t err = co_child_wait(c, CO_FOREVER, &ended);

    assert_false(ended);
    s->was_stopped = err_code(err) == ERR_STOPPED;
    err_free(&err);
    co_child_end(c, CO_SECONDS(5), s->how, sizeof(s->how));
    assert_err(co_check(), ERR_STOPPED); /* it still is */
    return NULL;
}

/* A coroutine that was asked to stop waits for its child as long as needed. */
static void ends_in_a_stopped_coroutine(void **state)
{
    struct stopping s = { .how = "" };
    struct co_group g;

    (void)state;
    co_group_init(&g);
    heard[0] = '\0';
    assert_ok(co_go(&g, "waiter", waiter, &s));
    while (!strstr(heard, "ready"))
        assert_ok(co_sleep(CO_MS(10)));
    assert_ok(co_group_stop(&g));
    assert_true(s.was_stopped);
    assert_string_equal(s.how, "status 6");
}

static err_t tick(void *arg)
{
    int *n = arg;
    err_t err = NULL;

    while (!(err = co_sleep(CO_MS(5))))
        ++*n;
    err_free(&err);
    return NULL;
}

/* A child with endless output does not keep other coroutines from running. */
static void talker(void **state)
{
    struct co_child *c = start((const char *const[]){ "yes", NULL });
    struct co_group g;
    int ticks = 0;
    bool ended;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "tick", tick, &ticks));
    for (int i = 0; i < 100 && ticks <= 10; i++) {
        assert_ok(co_child_wait(c, CO_MS(100), &ended));
        assert_false(ended);
    }
    assert_true(ticks > 10);
    co_child_end(c, CO_SECONDS(1), NULL, 0);
    assert_ok(co_group_stop(&g));
}

static void does_not_start(void **state)
{
    static const char *const rows[] = {
        "", "no-such-program-anywhere", "/no/such/program", "/tmp", "/etc/passwd",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct co_child_setup how = { .argv = (const char *const[]){ rows[i], NULL } };
        struct co_child *c = NULL;

        assert_err(co_child_start(&c, &how), ERR_NO_FILE);
        assert_null(c);
    }
    assert_int_equal(co_child_live(), 0);
}

/* Executable, but in an unknown format. */
static void no_program_inside(void **state)
{
    char path[] = "/tmp/test_co_child_XXXXXX";
    int fd = mkstemp(path);
    const struct co_child_setup how = { .argv = (const char *const[]){ path, NULL } };
    struct co_child *c = NULL;
    int fds;

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "hello\n", 6), 6);
    assert_int_equal(fchmod(fd, 0755), 0);
    assert_int_equal(close(fd), 0);
    fds = count_fds();
    assert_err(co_child_start(&c, &how), ERR_NO_FILE);
    assert_int_equal(count_fds(), fds);
    (void)unlink(path);
}

static void appends_to_files(void **state)
{
    char out[] = "/tmp/test_co_child_XXXXXX", text[64] = "";
    int fd = mkstemp(out);
    const struct co_child_setup how = {
        .argv = (const char *const[]){ "sh", "-c", "echo one; echo two >&2", NULL },
        .out = out, .said = on_said,
    };
    bool ended = false;

    (void)state;
    assert_true(fd >= 0);
    heard_size = 0;
    for (int i = 0; i < 2; i++) {
        struct co_child *c = NULL;

        assert_ok(co_child_start(&c, &how));
        assert_ok(co_child_wait(c, CO_SECONDS(5), &ended));
        co_child_end(c, 0, NULL, 0);
    }
    assert_int_equal(read(fd, text, sizeof(text) - 1), 8);
    assert_string_equal(text, "one\none\n");
    assert_string_equal(heard, "two\ntwo\n");
    (void)close(fd);
    (void)unlink(out);
}

/* If we are killed, so is the child. */
static void dies_with_us(void **state)
{
    int pipe_fd[2];
    pid_t us, child = 0;

    (void)state;
    assert_int_equal(pipe2(pipe_fd, O_CLOEXEC), 0);
    us = fork();
    assert_true(us >= 0);
    if (us == 0) {
        const struct co_child_setup how = { .argv = (const char *const[]){ "sleep", "100", NULL } };
        struct co_child *c = NULL;
        err_t err = co_init();

        if (!err)
            err = co_child_start(&c, &how);
        child = err ? -1 : co_child_pid(c);
        (void)!write(pipe_fd[1], &child, sizeof(child));
        (void)raise(SIGKILL);
    }
    assert_int_equal(read(pipe_fd[0], &child, sizeof(child)), sizeof(child));
    assert_true(child > 0);
    assert_int_equal(waitpid(us, NULL, 0), us);
    for (int i = 0; i < 300 && kill(child, 0) == 0; i++)
        assert_ok(co_sleep(CO_MS(10)));
    assert_int_equal(kill(child, 0), -1);
    (void)close(pipe_fd[0]);
    (void)close(pipe_fd[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(ends),
        TEST(says_much),
        TEST(begins_clean),
        TEST(leads_a_group),
        TEST(leaves_no_process),
        TEST(killed_when_it_does_not_listen),
        TEST(may_tidy_up),
        TEST(ends_in_a_stopped_coroutine),
        TEST(talker),
        TEST(does_not_start),
        TEST(no_program_inside),
        TEST(appends_to_files),
        TEST(dies_with_us),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
