/* SPDX-License-Identifier: MIT */
/* test_co_end.c - schedulers that end: threads come and go and leave nothing.
 *
 * Assertions are made on the first thread only: failures on another one are returned as text.
 */
#include "base/log.h"
#include "base/region.h"
#include "co/co.h"
#include "co/stalls.h"
#include "co/net/io_tcp.h"
#include "co/notify.h"
#include "co/thread.h"
#include "unit.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { WARM_UP = 10, TIMES = 50, COROUTINES = 100, ROOM = 1024 /* KB */ };

static void one_more(void *n)
{
    ++*(int *)n;
}

static void nothing_to_free(void *arg)
{
    (void)arg;
}

static err_t help(void *arg)
{
    return co_thread_run(CO_POOL_FILE, one_more, arg, nothing_to_free, CO_SECONDS(20));
}

static err_t answer(void *arg)
{
    struct io *io = arg;
    char byte;
    err_t err = io_read_full(io, &byte, 1);

    if (!err)
        err = io_write(io, &byte, 1);
    io_close(io);
    return err;
}

static err_t ask(void *arg)
{
    struct co_group g;
    struct io *io[2];
    char byte = 'x';
    int fd[2];
    err_t err;

    (void)arg;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) != 0)
        return err_sys(ERR_SYSTEM, "socketpair");
    err = io_tcp_open(&io[0], fd[0]);
    if (!err)
        err = io_tcp_open(&io[1], fd[1]);
    if (err)
        return err;
    co_group_init(&g);
    g.first = co_go(&g, "answer", answer, io[1]);
    err = io_write(io[0], &byte, 1);
    if (!err)
        err = io_read_full(io[0], &byte, 1);
    io_close(io[0]);
    if (err)
        return err;
    return co_group_wait(&g);
}

static err_t nap(void *arg)
{
    (void)arg;
    return co_sleep(CO_MS(2));
}

static void on_timer(struct co_timer *t)
{
    (void)t;
}

static void on_task(struct co_task *t)
{
    (void)t;
}

/* A short version of a worker. It leaves a timer and a task behind. */
static err_t work(void)
{
    static _Thread_local struct co_timer late;
    static _Thread_local struct co_task task;
    struct co_group g;
    void *block = region_take(REGION_BLOCK_MIN);
    int n = 0;
    err_t err = NULL;

    region_give(block, REGION_BLOCK_MIN);
    co_group_init(&g);
    for (int i = 0; i < COROUTINES && !err; i++)
        err = co_go(&g, "nap", nap, NULL);
    for (int i = 0; i < COROUTINES && !err; i++)
        err = co_go(&g, "ask", ask, NULL);
    if (!err)
        err = co_go(&g, "help", help, &n);
    g.first = err;
    err = co_group_wait(&g);
    if (!err && n != 1)
        err = err_new(ERR_SYSTEM, "no help");
    co_timer_set(&late, co_now() + CO_SECONDS(1000), on_timer);
    co_post(&task, on_task);
    log_trace("a line");
    return err;
}

/* Twice on one thread, then it ends. */
static void *worker(void *text)
{
    for (int i = 0; i < 2; i++) {
        err_t err = co_init();

        if (!err) {
            co_stalls_start();
            err = work();
            co_fini();
        }
        if (err || co_self() || err_live() != (err != NULL))
            (void)snprintf(text, 500, "%d: ", i);
        if (err)
            (void)err_text(err, (char *)text + strlen(text), 400);
        err_free(&err);
    }
    return NULL;
}

static int entries(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;

    assert_non_null(d);
    while (readdir(d))
        n++;
    (void)closedir(d);
    return n;
}

static long resident(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long all, pages;

    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &all, &pages), 2);
    (void)fclose(f);
    return pages * sysconf(_SC_PAGESIZE) / 1024;
}

static long maps(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    long n = 0;
    int c;

    assert_non_null(f);
    while ((c = getc(f)) != EOF)
        n += c == '\n';
    (void)fclose(f);
    return n;
}

static void a_thread(void)
{
    char text[500] = "";
    pthread_t id;

    assert_int_equal(pthread_create(&id, NULL, worker, text), 0);
    assert_int_equal(pthread_join(id, NULL), 0);
    assert_string_equal(text, "");
}

static void drop_line(enum log_level level, const char *line, size_t size)
{
    (void)level;
    (void)line;
    (void)size;
}

static void threads_leave_nothing(void **state)
{
    long rss = 0, mapped = 0;
    int files = 0, threads = 0;

    (void)state;
    log_init(&(struct log_setup){ .min = LOG_TRACE, .write = drop_line });
    for (int i = 0; i < WARM_UP + TIMES; i++) {
        if (i == WARM_UP) {
            files = entries("/proc/self/fd");
            threads = entries("/proc/self/task");
            rss = resident();
            mapped = maps();
        }
        a_thread();
    }
    assert_int_equal(entries("/proc/self/fd"), files);
    assert_int_equal(entries("/proc/self/task"), threads);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* they keep some */
    assert_in_range(maps(), 0, mapped + 5);
    assert_in_range(resident(), 0, rss + ROOM);
#else
    (void)rss;
    (void)mapped;
#endif
}

extern struct co_view *co_views; /* shown by debuggers */

static void is_seen_by_debuggers(void **state)
{
    struct co_view *none = co_views;

    (void)state;
    log_init(&(struct log_setup){ .min = LOG_TRACE, .write = drop_line });
    a_thread();
    assert_ptr_equal(co_views, none);
    assert_ok(co_init());
    assert_ptr_not_equal(co_views, none);
    a_thread();
    co_fini();
    assert_ptr_equal(co_views, none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(threads_leave_nothing), TEST(is_seen_by_debuggers),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    co_threads_end(CO_SECONDS(1));
    return failed;
}
