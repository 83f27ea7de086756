/* SPDX-License-Identifier: MIT */
/* test_co_two.c - two schedulers at the same time, each on its own thread.
 *
 * Assertions are made on the first thread only: cmocka leaves a failing test by longjmp. A failure
 * on the second one is an error, which is returned as text.
 */
#include "base/log.h"
#include "co/co.h"
#include "co/net/dns.h"
#include "co/net/io_tcp.h"
#include "co/notify.h"
#include "co/os/child.h"
#include "co/os/file.h"
#include "co/sched_stats.h"
#include "co/thread.h"
#include "temp_dir.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SLEEPERS = 200, PAIRS = 20, MESSAGES = 200, ROUNDS = 20, CIDS = 500, CID = 8,
       CHILDREN = 5 };

#define CHECK(what) do {                                     \
        if (!(what))                                         \
            return err_new(ERR_SYSTEM, "%s", #what);         \
    } while (0)

/* Results of one side, read by the first thread once `done` was raised. */
struct side {
    char tag;
    char failed[500];
    char cids[CIDS][CID + 1];
    unsigned lines;
    co_usec ended_at;
};

static _Thread_local unsigned lines, bad_lines; /* log lines */
static _Thread_local char tag;

static void on_line(enum log_level level, const char *line, size_t size)
{
    const char own[] = { 's', 'i', 'd', 'e', ' ', tag, '\n' };

    (void)level;
    lines++;
    bad_lines += size < sizeof(own) || memcmp(line + size - sizeof(own), own, sizeof(own)) != 0;
}

static err_t sleeper(void *arg)
{
    struct co *me = co_self();
    char cid[CID + 1];

    (void)arg;
    co_new_cid();
    (void)snprintf(cid, sizeof(cid), "%s", co_cid());
    for (int i = 0; i < ROUNDS; i++) {
        co_usec began = co_now(); /* from which a sleep counts */
        err_t err = co_sleep(CO_MS(1 + i % 7));

        if (err)
            return err;
        CHECK(co_self() == me && strcmp(co_cid(), cid) == 0);
        CHECK(co_clock() - began >= CO_MS(1 + i % 7));
    }
    log_trace("side %c", tag);
    return NULL;
}

static err_t echo(void *arg)
{
    struct io *io = arg;
    char byte;
    err_t err = NULL;

    for (int i = 0; i < MESSAGES && !err; i++) {
        err = io_read_full(io, &byte, 1);
        if (!err)
            err = io_write(io, &byte, 1);
    }
    io_close(io);
    return err;
}

static err_t ask(void *arg)
{
    struct io *io = arg;
    err_t err = NULL;

    for (int i = 0; i < MESSAGES && !err; i++) {
        char byte = tag;

        err = io_write(io, &byte, 1);
        if (!err)
            err = io_read_full(io, &byte, 1);
        if (!err && byte != tag)
            err = err_new(ERR_SYSTEM, "%c of another", byte);
    }
    io_close(io);
    return err;
}

static err_t open_pair(struct co_group *g)
{
    struct io *io[2];
    int fd[2];
    err_t err;

    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
    for (int i = 0; i < 2; i++) {
        err = io_tcp_open(&io[i], fd[i]);
        if (err)
            return err;
        io[i]->read_timeout = io[i]->write_timeout = CO_SECONDS(20);
    }
    err = co_go(g, "echo", echo, io[0]);
    return err ? err : co_go(g, "ask", ask, io[1]);
}

static err_t for_ever(void *arg)
{
    (void)arg;
    return co_sleep(CO_SECONDS(1000));
}

static err_t stops(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct co_deadline d = { 0 };
        struct co_group g;
        err_t err;

        co_group_init(&g);
        err = co_go(&g, "stopped", for_ever, NULL);
        if (err)
            return err;
        co_stop(co_newest(&g), err_new(ERR_KICKED, "%c", tag));
        err = co_group_wait(&g);
        CHECK(err_code(err) == ERR_KICKED);
        err_free(&err);
        co_deadline_set(&d, CO_MS(3), ERR_IO_TIMEOUT, "nothing");
        co_group_init(&g);
        err = co_go(&g, "beside", for_ever, NULL);
        if (err)
            return err;
        err = for_ever(NULL);
        co_deadline_cancel(&d);
        co_stop(co_newest(&g), err);
        err = co_group_wait(&g);
        CHECK(err_code(err) == ERR_IO_TIMEOUT);
        err_free(&err);
    }
    return NULL;
}

static void on_helper(void *arg)
{
    (void)usleep(500);
    ++*(int *)arg;
}

static void nothing_to_free(void *arg)
{
    (void)arg;
}

static err_t helpers(void *arg)
{
    int n = 0;

    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        err_t err = co_thread_run(CO_POOL_FILE, on_helper, &n, nothing_to_free, CO_SECONDS(20));

        if (err)
            return err;
        CHECK(n == i + 1);
    }
    return NULL;
}

struct counted {
    struct co_timer timer;
    unsigned left;
};

static void on_timer(struct co_timer *t)
{
    struct counted *c = (struct counted *)(void *)t;

    if (--c->left > 0)
        co_timer_set(t, co_now() + CO_MS(4), on_timer);
}

static err_t timers(void *arg)
{
    struct counted c[50] = { 0 };
    unsigned left = 0;
    err_t err;

    (void)arg;
    for (size_t i = 0; i < COUNT(c); i++) {
        c[i].left = 5;
        co_timer_set(&c[i].timer, co_now() + CO_MS(i), on_timer);
    }
    for (int i = 0; i < 500; i++) {
        err = co_sleep(CO_MS(10));
        if (err)
            return err;
        left = 0;
        for (size_t k = 0; k < COUNT(c); k++)
            left += c[k].left;
        if (left == 0)
            break;
    }
    for (size_t i = 0; i < COUNT(c); i++)
        co_timer_cancel(&c[i].timer);
    CHECK(left == 0);
    return NULL;
}

static err_t names(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct co_dns found;
        err_t err = co_dns_resolve("localhost", CO_SECONDS(20), &found);

        if (err)
            return err;
        CHECK(found.count > 0);
    }
    return NULL;
}

static err_t files(void *arg)
{
    (void)arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct co_file f;
        char head[4];
        err_t err = co_file_open(&f, dir, "a");

        if (err)
            return err;
        err = co_file_read(&f, 0, head, sizeof(head));
        co_file_close(&f);
        if (err)
            return err;
        CHECK(memcmp(head, "file", 4) == 0);
    }
    return NULL;
}

struct heard {
    char text[16];
    size_t size;
};

static void on_said(void *arg, const char *text, size_t size)
{
    struct heard *h = arg;

    if (size < sizeof(h->text) - h->size) {
        memcpy(h->text + h->size, text, size);
        h->size += size;
    }
}

/* Each side is notified of its own children only. */
static err_t children(void *arg)
{
    const char word[] = { 'i', 's', ' ', tag, '\0' };

    (void)arg;
    for (int i = 0; i < CHILDREN; i++) {
        const char *const argv[] = { "/bin/sh", "-c", "echo \"$0\"; exit 3", word, NULL };
        struct heard heard = { .size = 0 };
        const struct co_child_setup setup = { .argv = argv, .said = on_said, .arg = &heard };
        struct co_child *c;
        char how[32];
        bool ended;
        err_t err = co_child_start(&c, &setup);

        if (err)
            return err;
        err = co_child_wait(c, CO_SECONDS(20), &ended);
        co_child_end(c, CO_MS(100), how, sizeof(how));
        if (err)
            return err;
        CHECK(ended && strcmp(how, "status 3") == 0);
        CHECK(heard.size == 5 && memcmp(heard.text, word, 4) == 0);
    }
    CHECK(co_child_live() == 0);
    return NULL;
}

static err_t all(struct co_group *g)
{
    err_t err = NULL;

    for (int i = 0; i < SLEEPERS && !err; i++)
        err = co_go(g, "sleeper", sleeper, NULL);
    for (int i = 0; i < PAIRS && !err; i++)
        err = open_pair(g);
    if (!err)
        err = co_go(g, "stops", stops, NULL);
    if (!err)
        err = co_go(g, "helpers", helpers, NULL);
    if (!err)
        err = co_go(g, "names", names, NULL);
    if (!err)
        err = co_go(g, "files", files, NULL);
    if (!err)
        err = co_go(g, "children", children, NULL);
    return err ? err : co_go(g, "timers", timers, NULL);
}

static err_t run(struct side *s)
{
    unsigned long switches = co_switches();
    struct co_group g;
    err_t err;

    tag = s->tag;
    for (int i = 0; i < CIDS; i++) {
        co_new_cid();
        (void)snprintf(s->cids[i], sizeof(s->cids[i]), "%s", co_cid());
    }
    co_group_init(&g);
    g.first = all(&g);
    if (g.first)
        co_group_interrupt(&g);
    err = co_group_wait(&g);
    if (err)
        return err;
    CHECK(co_live() == 0 && err_live() == 0);
    CHECK(co_switches() - switches > SLEEPERS * ROUNDS);
    CHECK(lines == SLEEPERS && bad_lines == 0);
    return NULL;
}

static void run_side(struct side *s)
{
    err_t err = run(s);

    s->ended_at = co_clock();
    s->lines = lines;
    if (err)
        (void)err_text(err, s->failed, sizeof(s->failed));
    err_free(&err);
}

/* ---- the second thread */

static struct side first = { .tag = 'a' }, second = { .tag = 'b' };
static struct co_notify done;
static struct co_sched_stats stats;
static pthread_barrier_t leave; /* until the first has read the second's scheduler stats */

static void *worker(void *unused)
{
    err_t err = co_init();

    (void)unused;
    co_sched_stats(&stats);
    if (err)
        (void)err_text(err, second.failed, sizeof(second.failed));
    else
        run_side(&second);
    err_free(&err);
    co_notify_raise(&done);
    (void)pthread_barrier_wait(&leave);
    co_fini();
    return NULL;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

static void assert_no_id_twice(void)
{
    static char all_of[2 * CIDS][CID + 1];

    memcpy(all_of, first.cids, sizeof(first.cids));
    memcpy(all_of[CIDS], second.cids, sizeof(second.cids));
    qsort(all_of, 2 * CIDS, sizeof(all_of[0]), by_text);
    for (int i = 1; i < 2 * CIDS; i++)
        assert_string_not_equal(all_of[i - 1], all_of[i]);
}

static void test_two_schedulers(void **state)
{
    const struct log_setup quiet = { .min = LOG_TRACE, .write = on_line };
    pthread_t id;

    (void)state;
    log_init(&quiet);
    assert_ok(co_notify_open(&done));
    assert_int_equal(pthread_barrier_init(&leave, NULL, 2), 0);
    assert_int_equal(pthread_create(&id, NULL, worker, NULL), 0);
    run_side(&first);
    assert_int_equal(co_notify_wait(&done, CO_SECONDS(20)), CO_WOKEN);
    co_notify_close(&done);
    log_init(&(struct log_setup){ .min = LOG_TRACE });
    assert_string_equal(first.failed, "");
    assert_string_equal(second.failed, "");
    assert_no_id_twice();
    assert_true(co_sched_stats_switches(&stats) > 0);
    assert_false(co_sched_stats_idle(&stats)); /* it is at the barrier, not in its scheduler */
    (void)pthread_barrier_wait(&leave);
    assert_int_equal(pthread_join(id, NULL), 0);
}

static int make_file(void **state)
{
    char path[64];
    FILE *f;
    int bad = dir_make(state);

    (void)snprintf(path, sizeof(path), "%s/a", dir);
    f = bad ? NULL : fopen(path, "w");
    if (!f)
        return 1;
    (void)fputs("file", f);
    return fclose(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_two_schedulers, make_file, dir_remove),
    };
    err_t err = co_init();
    int failed;

    assert(!err);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    co_threads_end(CO_SECONDS(1));
    co_fini();
    return failed;
}
