/* SPDX-License-Identifier: MIT */
/* test_app_log_threads.c - lines of several threads: each once, complete, in the order of its
 * thread, and all in order of time.
 *
 * Assertions are made on the first thread only: cmocka leaves a failing test by longjmp.
 */
#include "app/log/merge.h"
#include "app/log/writer.h"
#include "base/log.h"
#include "temp_dir.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, LINES = 4000, BATCH = 200, BUFFER = 64 * 1024, LARGE = 4 << 20 };

static char path[128], text[LARGE];
static struct log_writer *tank;

static int setup(void **state)
{
    int bad = dir_make(state);

    (void)snprintf(path, sizeof(path), "%s/a.log", dir);
    return bad;
}

static void read_file(const char *file)
{
    FILE *f = fopen(file, "r");
    size_t n = strlen(text);

    assert_non_null(f);
    n += fread(text + n, 1, sizeof(text) - 1 - n, f);
    text[n] = '\0';
    (void)fclose(f);
}

static int64_t wall(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void say(struct log_inlet *i, int64_t at, const char *line)
{
    log_writer_put_from(tank, i, at, LOG_TRACE, line, strlen(line));
}

/* ---- several threads at once */

/* Writes lines "k n" as fast as they are accepted. */
static void *talk(void *number)
{
    struct log_inlet *mine = log_writer_join(tank);
    char line[32];

    for (int n = 0; n < LINES; n++) {
        (void)snprintf(line, sizeof(line), "line %d %d\n", *(int *)number, n);
        say(mine, wall(), line);
        if (n % BATCH == 0)
            (void)log_writer_flush(tank, 10000);
    }
    log_writer_leave(tank, mine);
    return NULL;
}

static void start(pthread_t id[THREADS], int number[THREADS])
{
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&id[i], NULL, talk, &number[i]), 0);
    }
}

static void end(pthread_t id[THREADS])
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(id[i], NULL), 0);
}

/* Each thread's lines are there once and in order, and nothing else. */
static void assert_all_lines(void)
{
    int next[THREADS] = { 0 };

    for (char *at = text, *nl; *at; at = nl + 1) {
        int k, n, used = 0;

        nl = strchr(at, '\n');
        assert_non_null(nl);
        *nl = '\0';
        assert_int_equal(sscanf(at, "line %d %d%n", &k, &n, &used), 2);
        assert_int_equal(used, strlen(at));
        assert_in_range(k, 0, THREADS - 1);
        assert_int_equal(n, next[k]);
        next[k]++;
    }
    for (int k = 0; k < THREADS; k++)
        assert_int_equal(next[k], LINES);
}

static void test_all_lines_of_all_threads(void **state)
{
    pthread_t id[THREADS];
    int number[THREADS];

    (void)state;
    text[0] = '\0';
    tank = log_writer_open(path, -1, BUFFER);
    assert_ok(log_writer_start(tank));
    assert_non_null(log_writer_join(tank));
    start(id, number);
    end(id);
    log_writer_close(tank);
    read_file(path);
    assert_all_lines();
}

static void test_a_file_that_changes_under_load(void **state)
{
    pthread_t id[THREADS];
    int number[THREADS];
    char old[160];
    int files = 20;

    (void)state;
    text[0] = '\0';
    tank = log_writer_open(path, -1, BUFFER);
    assert_ok(log_writer_start(tank));
    assert_non_null(log_writer_join(tank));
    start(id, number);
    for (int i = 0; i < files; i++) {
        (void)snprintf(old, sizeof(old), "%s.%02d", path, i);
        assert_int_equal(rename(path, old), 0);
        log_writer_reopen(tank);
        while (access(path, F_OK) < 0)
            (void)sched_yield();
    }
    end(id);
    log_writer_close(tank);
    for (int i = 0; i < files; i++) {
        (void)snprintf(old, sizeof(old), "%s.%02d", path, i);
        read_file(old);
    }
    read_file(path);
    assert_all_lines();
}

/* ---- in order, full, and lost */

/* A console that no process reads: the writer blocks in the middle of a write. */
static void open_stuck(int fd[2])
{
    static char filler[8192];
    int full = 0;

    assert_int_equal(pipe(fd), 0);
    assert_true(fcntl(fd[1], F_SETPIPE_SZ, 4096) > 0);
    tank = log_writer_open(NULL, fd[1], BUFFER);
    assert_ok(log_writer_start(tank));
    memset(filler, '-', sizeof(filler));
    filler[sizeof(filler) - 1] = '\n';
    log_writer_put(tank, LOG_TRACE, filler, sizeof(filler));
    while (full < 4096) {
        (void)sched_yield();
        assert_int_equal(ioctl(fd[0], FIONREAD, &full), 0);
    }
}

struct reader {
    int fd;
    pthread_t id;
};

static void *read_all(void *arg)
{
    const struct reader *r = arg;
    size_t n = 0;
    ssize_t got;

    while ((got = read(r->fd, text + n, sizeof(text) - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    return NULL;
}

/* Lines after the filler. */
static char *close_stuck(int fd[2], struct reader *r)
{
    log_writer_close(tank);
    (void)close(fd[1]);
    assert_int_equal(pthread_join(r->id, NULL), 0);
    (void)close(fd[0]);
    assert_non_null(strchr(text, '\n'));
    return strchr(text, '\n') + 1;
}

static void test_in_the_order_in_which_they_were_made(void **state)
{
    enum { INLETS = 5, EACH = 300 };
    struct log_inlet *v[INLETS];
    struct reader r;
    int fd[2], n = 0;
    char line[64], *at;

    (void)state;
    open_stuck(fd);
    for (int k = 0; k < INLETS; k++) {
        v[k] = log_writer_join(tank);
        assert_non_null(v[k]);
    }
    for (int k = INLETS - 1; k >= 0; k--) { /* the newest first */
        for (int i = 0; i < EACH; i++) {
            (void)snprintf(line, sizeof(line), "line %d\n", i * INLETS + k);
            say(v[k], 1000 + i * INLETS + k, line);
        }
    }
    r.fd = fd[0];
    assert_int_equal(pthread_create(&r.id, NULL, read_all, &r), 0);
    at = close_stuck(fd, &r);
    for (at = strtok(at, "\n"); at; at = strtok(NULL, "\n"), n++) {
        (void)snprintf(line, sizeof(line), "line %d", n);
        assert_string_equal(at, line);
    }
    assert_int_equal(n, INLETS * EACH);
}

static size_t count(const char *in, const char *what)
{
    size_t n = 0;

    for (const char *p = strstr(in, what); p; p = strstr(p + 1, what))
        n++;
    return n;
}

static void test_what_finds_no_room_is_counted_and_told(void **state)
{
    enum { MANY = 40000 };
    struct log_inlet *a, *b;
    unsigned long lost;
    struct reader r;
    char want[100], *at;
    int fd[2];

    (void)state;
    open_stuck(fd);
    a = log_writer_join(tank);
    b = log_writer_join(tank);
    for (int i = 0; i < MANY; i++)
        say(i % 2 ? a : b, i, "[2026-01-02 03:04:05.678][TRACE][1][x] line\n");
    say(NULL, 1, "of a thread that did not join\n");
    lost = log_writer_lost(tank);
    assert_in_range(lost, 2, MANY);
    r.fd = fd[0];
    assert_int_equal(pthread_create(&r.id, NULL, read_all, &r), 0);
    assert_true(log_writer_flush(tank, 10000));
    assert_int_equal(log_writer_lost(tank), 0); /* reported with the next line that was written */
    at = close_stuck(fd, &r);
    (void)snprintf(want, sizeof(want), "][-][0] log: %lu lines before this were lost\n", lost);
    assert_int_equal(count(at, want), 1);
    assert_int_equal(count(at, "[x] line\n"), MANY + 1 - lost);
    assert_int_equal(count(at, "\n"), MANY + 1 - lost + 1);
}

static void *talk_a_little(void *number)
{
    struct log_inlet *mine = log_writer_join(tank);
    char line[32];

    for (int n = 0; mine && n < 10; n++) {
        (void)snprintf(line, sizeof(line), "line %d %d\n", *(int *)number, n);
        say(mine, wall(), line);
    }
    log_writer_leave(tank, mine);
    return mine;
}

static void test_threads_come_and_go(void **state)
{
    int threads = LOG_INLETS * 3;
    void *joined;
    pthread_t id;
    char line[32];

    (void)state;
    text[0] = '\0';
    tank = log_writer_open(path, -1, BUFFER);
    assert_ok(log_writer_start(tank));
    assert_non_null(log_writer_join(tank));
    for (int i = 0; i < threads; i++) {
        assert_int_equal(pthread_create(&id, NULL, talk_a_little, &i), 0);
        assert_int_equal(pthread_join(id, &joined), 0);
        assert_non_null(joined);
    }
    log_writer_close(tank);
    read_file(path);
    assert_int_equal(count(text, "\n"), threads * 10);
    for (int i = 0; i < threads; i++) {
        (void)snprintf(line, sizeof(line), "line %d 9\n", i);
        assert_int_equal(count(text, line), 1);
    }
}

static void test_no_more_inlets_than_there_are(void **state)
{
    static struct log_merge g;
    struct log_inlet *v[LOG_INLETS];

    (void)state;
    for (int i = 0; i < LOG_INLETS; i++) {
        v[i] = log_merge_join(&g, 64);
        assert_non_null(v[i]);
    }
    assert_null(log_merge_join(&g, 64));
    log_inlet_leave(v[7]);
    assert_ptr_equal(log_merge_join(&g, 64), v[7]);
    assert_false(log_merge_waits(&g));
    log_merge_fini(&g);
}

/* ---- the last lines, while the file accepts none, and a program that crashes */

static void test_the_last_lines_are_those_of_all(void **state)
{
    struct log_inlet *a, *b;
    uint64_t end = 0, again;
    struct reader r;
    char *last;
    int fd[2];

    (void)state;
    open_stuck(fd);
    log_writer_keep(tank, 4096);
    a = log_writer_join(tank);
    b = log_writer_join(tank);
    say(b, 20, "second\n");
    say(a, 10, "first\n");
    last = log_writer_last(tank, 0, 10, &end);
    assert_string_equal(last, "first\nsecond\n");
    free(last);
    say(a, 15, "third\n"); /* it comes too late */
    last = log_writer_last(tank, end, 10, &again);
    assert_string_equal(last, "third\n");
    assert_int_equal(again, end + 6);
    free(last);
    r.fd = fd[0];
    assert_int_equal(pthread_create(&r.id, NULL, read_all, &r), 0);
    assert_string_equal(close_stuck(fd, &r), "first\nsecond\nthird\n");
}

/* The crashing program, in a separate process. */
__attribute__((noreturn)) static void die(void)
{
    struct log_inlet *a, *b;

    tank = log_writer_open(path, -1, BUFFER);
    if (log_writer_start(tank))
        _exit(1);
    a = log_writer_join(tank);
    b = log_writer_join(tank);
    for (int i = 0; i < 1000; i++)
        say(i % 2 ? a : b, i, "line\n");
    log_writer_crash(tank, "last words\n", 11);
    _exit(7);
}

static void test_a_crash_writes_what_all_have_made(void **state)
{
    int status = 0;
    pid_t pid = fork();

    (void)state;
    if (pid == 0)
        die();
    text[0] = '\0';
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(WEXITSTATUS(status), 7);
    read_file(path);
    assert_int_equal(strlen(text), 1000 * 5 + 11);
    assert_string_equal(text + 1000 * 5, "last words\n");
}

/* ---- rules and budgets */

static unsigned written;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void count_line(enum log_level level, const char *line, size_t size)
{
    (void)level;
    (void)line;
    (void)size;
    (void)pthread_mutex_lock(&lock);
    written++;
    (void)pthread_mutex_unlock(&lock);
}

static _Thread_local struct log_budget me;
static pthread_barrier_t all_there;

static struct log_budget *who_runs(void)
{
    return &me;
}

static const struct log_rules strict = { false, { 1, 1000000 }, { 1, 200 }, { 1, 100 } };

static void *stranger(void *arg)
{
    const char *address = arg;

    log_thread_begin();
    (void)pthread_barrier_wait(&all_there);
    for (int i = 0; i < 2000; i++) {
        me = (struct log_budget){ .source = address ? LOG_CLIENT : LOG_UNTRUSTED };
        log_budget_from(&me, address, 1);
        log_trace("an untrusted client, %s", log_param("?token=x"));
        if (i % 100 == 0)
            log_rule(&strict); /* a reload */
        (void)sched_yield();
    }
    (void)pthread_barrier_wait(&all_there); /* clients that left use no share */
    log_thread_end();
    return NULL;
}

static unsigned strangers(const char *address)
{
    pthread_t id[THREADS];

    written = 0;
    assert_int_equal(pthread_barrier_init(&all_there, NULL, THREADS), 0);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&id[i], NULL, stranger, (void *)(uintptr_t)address), 0);
    end(id);
    (void)pthread_barrier_destroy(&all_there);
    return written;
}

static void test_budgets_are_of_the_process(void **state)
{
    const struct log_setup counted = { LOG_TRACE, false, NULL, count_line, who_runs };
    const struct log_rules none = { .secrets = true };

    (void)state;
    log_init(&counted);
    log_rule(&strict);
    /* and each thread reports left-out lines, at most once a second */
    assert_in_range(strangers(NULL), 200, 200 + THREADS * 4);
    assert_in_range(strangers("192.0.2.7"), 100 / THREADS, 100 + THREADS * 8);
    log_init(&(struct log_setup){ .min = LOG_TRACE });
    log_rule(&none);
}

#define LOG_TEST(f) cmocka_unit_test_setup_teardown(f, setup, dir_remove)

int main(void)
{
    const struct CMUnitTest tests[] = {
        LOG_TEST(test_all_lines_of_all_threads),
        LOG_TEST(test_a_file_that_changes_under_load),
        LOG_TEST(test_in_the_order_in_which_they_were_made),
        LOG_TEST(test_what_finds_no_room_is_counted_and_told),
        LOG_TEST(test_threads_come_and_go),
        LOG_TEST(test_no_more_inlets_than_there_are),
        LOG_TEST(test_the_last_lines_are_those_of_all),
        LOG_TEST(test_a_crash_writes_what_all_have_made),
        TEST(test_budgets_are_of_the_process),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
