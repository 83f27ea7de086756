/* SPDX-License-Identifier: MIT */
/* test_co_stop.c - reasons of an end: stops with an error, and deadlines. */
#include "co/co.h"
#include "co/net/io_tcp.h"
#include "co/thread.h"
#include "unit.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct co *started;

static err_t nap(void *unused)
{
    (void)unused;
    return co_sleep(CO_SECONDS(100));
}

static err_t park(void *unused)
{
    (void)unused;
    return co_park(CO_SECONDS(100)) == CO_STOPPED ? err_wrap(co_stop_why(), "parked") : NULL;
}

static err_t read_socket(void *unused)
{
    int pair[2];
    struct io *io;
    char byte;
    size_t n;
    err_t err;

    (void)unused;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    assert_ok(io_tcp_open(&io, pair[0]));
    io->read_timeout = CO_SECONDS(100);
    err = io_read(io, &byte, 1, &n);
    io_close(io);
    (void)close(pair[1]);
    return err;
}

static err_t group_of_its_own(void *unused)
{
    struct co_group g;
    err_t err;

    (void)unused;
    co_group_init(&g);
    assert_ok(co_go(&g, "park", park, NULL));
    err = nap(NULL);
    co_stop(co_newest(&g), err); /* the reason is passed on */
    return co_group_wait(&g);
}

static void long_work(void *arg)
{
    (void)arg;
    (void)usleep(30000);
}

static void nothing_to_free(void *arg)
{
    (void)arg;
}

static err_t helper_thread(void *unused)
{
    (void)unused;
    return co_thread_run(CO_POOL_FILE, long_work, NULL, nothing_to_free, CO_SECONDS(100));
}

static err_t run_wait(void *arg)
{
    co_fn *wait = *(co_fn **)arg;
    err_t err;

    started = co_self();
    err = wait(NULL);
    assert_true(co_stop_asked());
    assert_err(co_check(), err_code(err)); /* on each call */
    assert_err(co_sleep(CO_SECONDS(100)), err_code(err));
    return err;
}

static co_fn *const waits[] = { nap, park, read_socket, group_of_its_own, helper_thread };

/* In any kind of wait: it returns the error given to the stop, with its trace. */
static void test_stop_while_it_waits(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(waits); i++) {
        co_fn *wait = waits[i];
        struct co_group g;
        char text[500];
        err_t err;

        co_group_init(&g);
        assert_ok(co_go(&g, "waiter", run_wait, &wait));
        assert_ok(co_sleep(CO_MS(5)));
        err = err_new(ERR_KICKED, "10.0.0.7");
        co_stop(started, err_wrap(err, "by the API"));
        err = co_group_wait(&g);
        assert_int_equal(err_code(err), ERR_KICKED);
        assert_non_null(strstr(err_text(err, text, sizeof(text)), "by the API : 10.0.0.7"));
        err_free(&err);
        assert_int_equal(co_live(), 0);
    }
}

static void test_stop_before_a_wait(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(waits); i++) {
        co_fn *wait = waits[i];
        struct co_group g;

        co_group_init(&g);
        assert_ok(co_go(&g, "waiter", run_wait, &wait));
        co_stop(g.head, err_new(ERR_REPLACED, "before it ran"));
        assert_err(co_group_wait(&g), ERR_REPLACED);
    }
}

static void test_the_first_reason_stays(void **state)
{
    static const enum err_code codes[][2] = { /* ERR_OK: none is given */
        { ERR_IDLE, ERR_KICKED }, { ERR_OK, ERR_KICKED }, { ERR_IDLE, ERR_OK },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(codes); i++) {
        co_fn *wait = nap;
        struct co_group g;

        co_group_init(&g);
        assert_ok(co_go(&g, "waiter", run_wait, &wait));
        assert_ok(co_sleep(CO_MS(1)));
        for (int k = 0; k < 2; k++)
            co_stop(started, codes[i][k] ? err_new(codes[i][k], "number %d", k) : NULL);
        assert_err(co_group_wait(&g), codes[i][0] ? codes[i][0] : ERR_STOPPED);
    }
}

static err_t end_at_once(void *arg)
{
    (void)arg;
    return NULL;
}

static void test_an_unused_reason_is_freed(void **state)
{
    struct co_group g;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "short", end_at_once, NULL));
    co_stop(g.head, err_new(ERR_IDLE, "it does not ask"));
    assert_ok(co_group_wait(&g));
    assert_int_equal(err_live(), 0);
}

static void test_a_group_stop_has_none_and_takes_none_away(void **state)
{
    co_fn *wait = group_of_its_own;
    struct co_group g;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "waiter", run_wait, &wait));
    assert_ok(co_sleep(CO_MS(1)));
    assert_err(co_group_stop(&g), ERR_STOPPED);
    co_group_init(&g);
    assert_ok(co_go(&g, "waiter", run_wait, &wait));
    assert_ok(co_sleep(CO_MS(1)));
    co_stop(started, err_new(ERR_KICKED, "first"));
    assert_err(co_group_stop(&g), ERR_KICKED);
}

static err_t hold_and_resume(void *arg)
{
    bool held;

    (void)arg;
    started = co_self();
    assert_err(co_sleep(CO_SECONDS(100)), ERR_KICKED);
    held = co_stop_hold();
    assert_true(held && !co_stop_asked());
    assert_ok(co_sleep(CO_MS(1)));
    co_stop(started, err_new(ERR_IDLE, "later"));
    assert_err(co_sleep(CO_SECONDS(100)), ERR_KICKED);
    held |= co_stop_hold();
    assert_ok(co_sleep(CO_MS(1)));
    co_stop_resume(held);
    return co_check();
}

static err_t forget_and_go_on(void *arg)
{
    started = co_self();
    assert_err(co_sleep(CO_SECONDS(100)), ERR_KICKED);
    *(bool *)arg = !co_stop_forget();
    assert_int_equal(co_stop_asked(), *(bool *)arg);
    assert_ok(*(bool *)arg ? NULL : co_sleep(CO_MS(1)));
    return co_check();
}

static void test_hold_keeps_the_reason(void **state)
{
    struct co_group g;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "holder", hold_and_resume, NULL));
    assert_ok(co_sleep(CO_MS(1)));
    co_stop(started, err_new(ERR_KICKED, "first"));
    assert_err(co_group_wait(&g), ERR_KICKED);
}

static void test_forget_goes_on_but_for_its_group(void **state)
{
    struct co_group g;
    bool still;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "one", forget_and_go_on, &still));
    assert_ok(co_sleep(CO_MS(1)));
    co_stop(started, err_new(ERR_KICKED, "what it does"));
    assert_ok(co_group_wait(&g));
    assert_false(still);
    assert_ok(co_go(&g, "two", forget_and_go_on, &still));
    assert_ok(co_sleep(CO_MS(1)));
    co_stop(started, err_new(ERR_KICKED, "what it does"));
    assert_err(co_group_stop(&g), ERR_KICKED);
    assert_true(still);
}

/* ---- deadlines */

static err_t with_deadline(void *arg)
{
    struct co_deadline d = { 0 };
    co_fn *wait = *(co_fn **)arg;
    err_t err;

    co_deadline_set(&d, CO_MS(20), ERR_IO_TIMEOUT, "no frame");
    err = wait(NULL);
    assert_true(d.passed);
    assert_err(co_check(), ERR_IO_TIMEOUT);
    co_deadline_cancel(&d);
    assert_false(d.passed);
    assert_ok(co_check()); /* over with its operation */
    assert_int_equal(co_park(CO_MS(1)), CO_TIMEOUT);
    return err;
}

static void test_a_deadline_passes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(waits); i++) {
        co_fn *wait = waits[i];
        struct co_group g;
        char text[500];
        err_t err;

        co_group_init(&g);
        assert_ok(co_go(&g, "late", with_deadline, &wait));
        err = co_group_wait(&g);
        assert_int_equal(err_code(err), ERR_IO_TIMEOUT);
        assert_non_null(strstr(err_text(err, text, sizeof(text)), "no frame in 20 ms"));
        err_free(&err);
    }
}

static void test_a_deadline_is_cancelled_moved_or_none(void **state)
{
    struct co_deadline d = { 0 };

    (void)state;
    co_deadline_cancel(&d);
    co_deadline_set(&d, CO_MS(5), ERR_IO_TIMEOUT, "cancelled");
    co_deadline_cancel(&d);
    assert_ok(co_sleep(CO_MS(20)));
    co_deadline_set(&d, CO_MS(5), ERR_IO_TIMEOUT, "first");
    co_deadline_set(&d, CO_MS(60), ERR_DNS, "moved");
    assert_ok(co_sleep(CO_MS(20)));
    assert_err(co_sleep(CO_SECONDS(100)), ERR_DNS);
    co_deadline_set(&d, 0, ERR_IO_TIMEOUT, "none");
    assert_ok(co_sleep(CO_MS(10)));
    co_deadline_set(&d, CO_FOREVER, ERR_IO_TIMEOUT, "none");
    assert_ok(co_sleep(CO_MS(10)));
    co_deadline_cancel(&d);
}

/* It expires while the coroutine runs, which finishes its work before it notices. */
static void test_a_deadline_that_is_late_by_a_hair(void **state)
{
    struct co_deadline d = { 0 };

    (void)state;
    co_deadline_set(&d, CO_MS(1), ERR_IO_TIMEOUT, "by a hair");
    while (!d.passed)
        co_yield();
    co_deadline_cancel(&d);
    assert_ok(co_check());
    assert_int_equal(co_park(CO_MS(1)), CO_TIMEOUT); /* no wakeup is left over */
}

static void test_deadlines_in_each_other(void **state)
{
    struct co_deadline outer = { 0 }, inner = { 0 };

    (void)state;
    co_deadline_set(&outer, CO_MS(40), ERR_DNS, "outer");
    co_deadline_set(&inner, CO_MS(5), ERR_IO_TIMEOUT, "inner");
    assert_err(co_sleep(CO_SECONDS(100)), ERR_IO_TIMEOUT);
    co_deadline_cancel(&inner);
    assert_err(co_sleep(CO_SECONDS(100)), ERR_DNS);
    co_deadline_set(&inner, CO_MS(1), ERR_IO_TIMEOUT, "inner");
    while (!inner.passed)
        co_yield();
    assert_err(co_check(), ERR_DNS); /* the first one */
    co_deadline_cancel(&outer);
    assert_err(co_check(), ERR_IO_TIMEOUT);
    co_deadline_cancel(&inner);
    assert_ok(co_check());
}

static err_t stopped_meanwhile(void *arg)
{
    struct co_deadline d = { 0 };
    bool stop_first = *(bool *)arg;

    co_deadline_set(&d, CO_MS(1), ERR_IO_TIMEOUT, "deadline");
    if (stop_first)
        co_stop(co_self(), err_new(ERR_KICKED, "stop"));
    while (!d.passed)
        co_yield();
    if (!stop_first)
        co_stop(co_self(), err_new(ERR_KICKED, "stop"));
    assert_true(co_stop_asked());
    co_deadline_cancel(&d);
    return co_check(); /* another stop keeps its reason */
}

static void test_a_deadline_and_a_stop(void **state)
{
    struct co_group g;

    (void)state;
    for (int i = 0; i < 2; i++) {
        bool first = i;

        co_group_init(&g);
        assert_ok(co_go(&g, "both", stopped_meanwhile, &first));
        assert_err(co_group_wait(&g), ERR_KICKED);
    }
}

static err_t waits_for_the_group(void *arg)
{
    struct co_deadline d = { 0 };
    err_t err;

    (void)arg;
    co_deadline_set(&d, CO_SECONDS(100), ERR_IO_TIMEOUT, "long");
    err = group_of_its_own(NULL);
    co_deadline_cancel(&d);
    return err;
}

static void test_a_deadline_under_a_group_stop(void **state)
{
    struct co_group g;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "patient", waits_for_the_group, NULL));
    assert_ok(co_sleep(CO_MS(1)));
    assert_err(co_group_stop(&g), ERR_STOPPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_stop_while_it_waits),
        TEST(test_stop_before_a_wait),
        TEST(test_the_first_reason_stays),
        TEST(test_an_unused_reason_is_freed),
        TEST(test_a_group_stop_has_none_and_takes_none_away),
        TEST(test_hold_keeps_the_reason),
        TEST(test_forget_goes_on_but_for_its_group),
        TEST(test_a_deadline_passes),
        TEST(test_a_deadline_is_cancelled_moved_or_none),
        TEST(test_a_deadline_that_is_late_by_a_hair),
        TEST(test_deadlines_in_each_other),
        TEST(test_a_deadline_and_a_stop),
        TEST(test_a_deadline_under_a_group_stop),
    };
    err_t err = co_init();
    int failed;

    assert(!err);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    co_threads_end(CO_SECONDS(1));
    return failed;
}
