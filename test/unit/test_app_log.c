/* SPDX-License-Identifier: MIT */
/* test_app_log.c - destination of log lines: whole, in order, in the right file, or counted. */
#include "app/log/ring.h"
#include "app/log/writer.h"
#include "temp_dir.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SMALL = 4096, LARGE = 1 << 20 };

static char path[128];

static int setup(void **state)
{
    int bad = dir_make(state);

    (void)snprintf(path, sizeof(path), "%s/a.log", dir);
    return bad;
}

static char *content(const char *file)
{
    static char text[LARGE];
    FILE *f = fopen(file, "r");
    size_t n = f ? fread(text, 1, sizeof(text) - 1, f) : 0;

    text[n] = '\0';
    if (f)
        (void)fclose(f);
    return text;
}

static void say(struct log_writer *t, const char *line)
{
    log_writer_put(t, LOG_TRACE, line, strlen(line));
}

static void test_ring_gives_what_was_put(void **state)
{
    uint8_t room[64], line[24], got[24];
    struct log_ring r;
    struct iovec iov[2];

    (void)state;
    log_ring_init(&r, room, sizeof(room));
    for (int i = 0; i < 1000; i++) {
        size_t n = (size_t)(i % 24) + 1;

        memset(line, i, n);
        assert_true(log_ring_put(&r, line, n));
        assert_int_equal(log_ring_peek(&r, iov), n);
        memcpy(got, iov[0].iov_base, iov[0].iov_len);
        memcpy(got + iov[0].iov_len, iov[1].iov_base, iov[1].iov_len);
        assert_memory_equal(got, line, n);
        log_ring_take(&r, n);
    }
}

static void test_ring_refuses_whole_lines(void **state)
{
    uint8_t room[64], line[64] = { 0 };
    struct log_ring r;
    struct iovec iov[2];

    (void)state;
    log_ring_init(&r, room, sizeof(room));
    assert_true(log_ring_put(&r, line, 40));
    assert_false(log_ring_put(&r, line, 25));
    assert_true(log_ring_put(&r, line, 24));
    assert_false(log_ring_put(&r, line, 1));
    assert_int_equal(log_ring_peek(&r, iov), 64);
    log_ring_take(&r, 64);
    assert_true(log_ring_put(&r, line, 64));
}

static void test_lines_come_in_order_before_and_after_the_start(void **state)
{
    struct log_writer *t = log_writer_open(path, -1, SMALL);
    char line[64], *text;
    int n = 0;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        if (i == 10) {
            assert_string_equal(strrchr(content(path), ' '), " 9\n");
            assert_ok(log_writer_start(t));
        }
        (void)snprintf(line, sizeof(line), "line %d\n", i);
        say(t, line);
        if (i % 100 == 0)
            assert_true(log_writer_flush(t, 5000));
    }
    log_writer_close(t);
    text = content(path);
    for (char *at = strtok(text, "\n"); at; at = strtok(NULL, "\n"), n++) {
        (void)snprintf(line, sizeof(line), "line %d", n);
        assert_string_equal(at, line);
    }
    assert_int_equal(n, 2000);
}

static void test_reopen_goes_on_in_a_new_file(void **state)
{
    struct log_writer *t = log_writer_open(path, -1, SMALL);
    char old[160];

    (void)state;
    (void)snprintf(old, sizeof(old), "%s.1", path);
    assert_ok(log_writer_start(t));
    say(t, "one\n");
    assert_true(log_writer_flush(t, 5000));
    assert_int_equal(rename(path, old), 0);
    say(t, "two\n");
    assert_true(log_writer_flush(t, 5000));
    log_writer_reopen(t);
    assert_true(log_writer_flush(t, 5000));
    say(t, "three\n");
    log_writer_close(t);
    assert_string_equal(content(old), "one\ntwo\n");
    assert_string_equal(content(path), "three\n");
}

/* Redirects what the log writer prints to stderr. */
static int stderr_to(const char *file)
{
    int saved = dup(2), fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    (void)dup2(fd, 2);
    (void)close(fd);
    return saved;
}

static void stderr_back(int saved)
{
    (void)dup2(saved, 2);
    (void)close(saved);
}

static void test_a_missing_folder_is_told_once_and_tried_again(void **state)
{
    char sub[160], file[200], errors[160];
    struct log_writer *t;
    int saved;

    (void)state;
    (void)snprintf(sub, sizeof(sub), "%s/sub", dir);
    (void)snprintf(file, sizeof(file), "%s/a.log", sub);
    (void)snprintf(errors, sizeof(errors), "%s/stderr", dir);
    saved = stderr_to(errors);
    t = log_writer_open(file, -1, SMALL);
    say(t, "lost\n");
    assert_ok(log_writer_start(t));
    say(t, "lost too\n");
    assert_true(log_writer_flush(t, 5000));
    stderr_back(saved);
    assert_int_equal(log_writer_lost(t), 2);
    assert_non_null(strstr(content(errors), "No such file or directory"));
    assert_null(strchr(strchr(content(errors), '\n') + 1, '\n')); /* one line */

    assert_int_equal(mkdir(sub, 0700), 0);
    log_writer_reopen(t);
    assert_true(log_writer_flush(t, 5000));
    say(t, "[2026-01-02 03:04:05.678][TRACE][1][x] here again\n");
    log_writer_close(t);
    assert_non_null(strstr(content(file), "[2026-01-02 03:04:05.678][WARN]"));
    assert_non_null(strstr(content(file), "2 lines before this were lost\n"));
    assert_non_null(strstr(content(file), "here again\n"));
}

static void test_a_full_disk_loses_lines_and_nothing_else(void **state)
{
    char errors[160];
    struct log_writer *t;
    int saved;

    (void)state;
    if (access("/dev/full", W_OK) != 0)
        skip();
    (void)snprintf(errors, sizeof(errors), "%s/stderr", dir);
    saved = stderr_to(errors);
    assert_int_equal(symlink("/dev/full", path), 0);
    t = log_writer_open(path, -1, SMALL);
    assert_ok(log_writer_start(t));
    for (int i = 0; i < 5; i++)
        say(t, "lost\n");
    assert_true(log_writer_flush(t, 5000));
    stderr_back(saved);
    assert_int_equal(log_writer_lost(t), 5);
    assert_non_null(strstr(content(errors), "No space left on device"));
    assert_null(strchr(strchr(content(errors), '\n') + 1, '\n'));

    assert_int_equal(unlink(path), 0);
    log_writer_reopen(t);
    assert_true(log_writer_flush(t, 5000));
    say(t, "here again\n");
    log_writer_close(t);
    assert_non_null(strstr(content(path), "5 lines before this were lost\nhere again\n"));
}

static void test_a_slow_reader_delays_no_other(void **state)
{
    struct log_writer *t;
    struct timespec a, b;
    char line[100], buf[SMALL];
    int fd[2];
    bool told = false;

    (void)state;
    assert_int_equal(pipe(fd), 0);
    assert_int_equal(fcntl(fd[1], F_SETPIPE_SZ, 4096), 4096);
    t = log_writer_open(NULL, fd[1], SMALL);
    assert_ok(log_writer_start(t));
    memset(line, 'x', sizeof(line));
    line[sizeof(line) - 1] = '\n';
    (void)clock_gettime(CLOCK_MONOTONIC, &a);
    /* lines that its thread has reported are no longer counted: until that fails, too */
    for (int i = 0; i < 1000 || (i < 100000 && log_writer_lost(t) == 0); i++)
        log_writer_put(t, LOG_TRACE, line, sizeof(line));
    (void)clock_gettime(CLOCK_MONOTONIC, &b);
    assert_true((b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000 < 1000);
    assert_true(log_writer_lost(t) > 0);
    (void)fcntl(fd[0], F_SETFL, O_NONBLOCK);
    for (int i = 0; i < 5000 && !told; i++) {
        ssize_t n = read(fd[0], buf, sizeof(buf) - 1);

        buf[n > 0 ? n : 0] = '\0';
        told = strstr(buf, "lines before this were lost") != NULL;
        if (log_writer_lost(t))
            say(t, "one more\n"); /* the note is written as soon as there is room */
        (void)nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    }
    assert_true(told);
    (void)close(fd[0]);
    log_writer_close(t);
    (void)close(fd[1]);
}

static void test_a_crash_writes_what_waits(void **state)
{
    int status = 0, full[2];
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(full), 0);
    pid = fork();
    if (pid == 0) {
        struct log_writer *t = log_writer_open(path, -1, SMALL);

        if (log_writer_start(t))
            _exit(1);
        for (int i = 0; i < 50; i++)
            say(t, "line\n");
        log_writer_crash(t, "last words\n", 11);
        _exit(7);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_int_equal(strlen(content(path)), 50 * 5 + 11);
    assert_string_equal(content(path) + 50 * 5, "last words\n");
    (void)close(full[0]);
    (void)close(full[1]);
}

static void test_a_file_has_no_colours(void **state)
{
    struct log_writer *t = log_writer_open(path, -1, SMALL);

    (void)state;
    log_writer_put(t, LOG_ERROR, "bad\n", 4);
    log_writer_close(t);
    assert_string_equal(content(path), "bad\n");
}

static void test_a_terminal_has(void **state)
{
    static const char want[] = "fine\r\n\033[33modd\033[0m\r\n\033[31mbad\033[0m\r\n";
    int master = posix_openpt(O_RDWR | O_NOCTTY), tty;
    char buf[256] = { 0 };
    size_t got = 0;
    struct log_writer *t;

    (void)state;
    if (master < 0)
        skip(); /* a container without terminals */
    assert_true(grantpt(master) == 0 && unlockpt(master) == 0);
    tty = open(ptsname(master), O_RDWR | O_NOCTTY);
    assert_true(tty >= 0);
    t = log_writer_open(NULL, tty, SMALL);
    log_writer_put(t, LOG_TRACE, "fine\n", 5);
    log_writer_put(t, LOG_WARN, "odd\n", 4);
    log_writer_put(t, LOG_ERROR, "bad\n", 4);
    log_writer_close(t);
    while (got < sizeof(want) - 1) { /* it arrives in pieces */
        ssize_t n = read(master, buf + got, sizeof(buf) - 1 - got);

        assert_true(n > 0);
        got += (size_t)n;
    }
    assert_string_equal(buf, want);
    (void)close(tty);
    (void)close(master);
}

#define LOG_TEST(f) cmocka_unit_test_setup_teardown(f, setup, dir_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(test_ring_gives_what_was_put),
        LOG_TEST(test_ring_refuses_whole_lines),
        LOG_TEST(test_lines_come_in_order_before_and_after_the_start),
        LOG_TEST(test_reopen_goes_on_in_a_new_file),
        LOG_TEST(test_a_missing_folder_is_told_once_and_tried_again),
        LOG_TEST(test_a_full_disk_loses_lines_and_nothing_else),
        LOG_TEST(test_a_slow_reader_delays_no_other),
        LOG_TEST(test_a_crash_writes_what_waits),
        LOG_TEST(test_a_file_has_no_colours),
        LOG_TEST(test_a_terminal_has),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
