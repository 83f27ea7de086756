/* SPDX-License-Identifier: MIT */
/* test_co_watchdog.c - which coroutine kept the thread, and where. */
#include "base/log.h"
#include "co/co.h"
#include "co/notify.h"
#include "co/trace.h"
#include "co/watchdog.h"
#include "unit.h"

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static char lines[8192];
static int line_count;

static void keep(enum log_level level, const char *line, size_t size)
{
    size_t used = strlen(lines);

    (void)level;
    line_count++;
    (void)snprintf(lines + used, sizeof(lines) - used, "%.*s", (int)size, line);
}

static struct co_group group;

static int setup(void **state)
{
    const struct log_setup s = { LOG_TRACE, false, co_cid, keep, NULL };
    err_t err = co_init();

    (void)state;
    lines[0] = '\0';
    line_count = 0;
    log_init(&s);
    co_group_init(&group);
    if (!err)
        err = co_watchdog_start(CO_MS(100));
    if (!err)
        err = co_go(&group, "watchdog", co_watchdog_run, NULL);
    return err != NULL;
}

static int teardown(void **state)
{
    err_t err = co_group_stop(&group);

    err_free(&err);
    co_watchdog_stop();
    return nothing_left(state);
}

/* CPU time of this thread: a busy machine makes the stall longer, not cheaper. */
static co_usec cpu_time(void)
{
    struct timespec ts = { 0 };

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (co_usec)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

__attribute__((noinline)) static void spin_in_a_static_function(co_usec t)
{
    co_usec until = cpu_time() + t;

    do {
        for (volatile int i = 0; i < 1000000; i++)
            continue; /* nearly all of the time is spent here, with this function's frame */
    } while (cpu_time() < until);
}

__attribute__((noinline)) static int its_caller(co_usec t)
{
    spin_in_a_static_function(t);
    return 1; /* so that it is no tail call */
}

static err_t busy(void *arg)
{
    co_new_cid();
    (void)its_caller(*(co_usec *)arg);
    return NULL;
}

static err_t blocked(void *arg)
{
    co_usec t = *(co_usec *)arg;

    co_new_cid();
    (void)nanosleep(&(struct timespec){ 0, t * 1000 }, NULL);
    return NULL;
}

static void run(const char *name, co_fn *fn, co_usec t)
{
    struct co_group g;

    co_group_init(&g);
    assert_ok(co_go(&g, name, fn, &t));
    assert_ok(co_group_wait(&g));
    assert_ok(co_sleep(CO_MS(120)));
}

static int number_after(const char *what)
{
    const char *at = strstr(lines, what);

    assert_non_null(at);
    return atoi(at + strlen(what));
}

static void test_a_busy_coroutine_is_named_with_its_place(void **state)
{
    (void)state;
    run("busy-one", busy, CO_MS(400));
    print_message("%s", lines);
    assert_true(line_count >= 1);
    assert_non_null(strstr(lines, "[WARN]"));
    assert_non_null(strstr(lines, "coroutine busy-one ["));
    assert_null(strstr(lines, "[] held"));
    assert_in_range(number_after("held the thread for "), 200, 60000);
    assert_true(number_after("(cpu ") > 100);
    assert_non_null(strstr(lines, "spin_in_a_static_function+0x"));
    assert_non_null(strstr(lines, " < its_caller+0x"));
    assert_non_null(strstr(lines, " < busy+0x"));
}

static void test_a_blocked_one_used_no_cpu(void **state)
{
    (void)state;
    run("blocked-one", blocked, CO_MS(400));
    print_message("%s", lines);
    assert_true(line_count >= 1);
    assert_non_null(strstr(lines, "coroutine blocked-one ["));
    assert_true(number_after("(cpu ") < 100);
}

static void test_each_hold_is_told(void **state)
{
    (void)state;
    run("one", busy, CO_MS(300));
    run("two", busy, CO_MS(300));
    assert_non_null(strstr(lines, "coroutine one ["));
    assert_non_null(strstr(lines, "coroutine two ["));
}

static void test_short_turns_and_idleness_are_no_hold(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        spin_in_a_static_function(CO_MS(5));
        assert_ok(co_sleep(0));
        co_yield();
    }
    assert_ok(co_sleep(CO_MS(400)));
    /* on a busy machine there may be one, but then no cpu was used */
    if (line_count > 0)
        assert_true(number_after("(cpu ") < 50);
}

static err_t hold_and_tell(void)
{
    struct co_group g, dog;
    co_usec t = CO_MS(400);
    err_t err, stopped;

    co_group_init(&g);
    co_group_init(&dog);
    err = co_watchdog_join();
    if (err)
        return err;
    err = co_go(&dog, "watchdog", co_watchdog_run, NULL);
    if (!err)
        err = co_go(&g, "far", busy, &t);
    if (!err)
        err = co_group_wait(&g);
    if (!err)
        err = co_sleep(CO_MS(120));
    stopped = co_group_stop(&dog);
    err_free(&stopped);
    co_watchdog_leave();
    return err;
}

static void *second(void *done)
{
    sigset_t all;
    err_t err;

    (void)sigfillset(&all); /* as at the start of a worker */
    (void)pthread_sigmask(SIG_SETMASK, &all, NULL);
    err = co_init();
    assert(!err);
    co_set_number(7);
    err = hold_and_tell();
    assert(!err);
    co_fini();
    co_notify_raise(done);
    return NULL;
}

/* Meanwhile the first one switches all the time: it is the other one's stall. */
static void test_another_scheduler_is_named_by_its_number(void **state)
{
    struct co_notify done;
    pthread_t id;

    (void)state;
    assert_ok(co_notify_open(&done));
    assert_int_equal(pthread_create(&id, NULL, second, &done), 0);
    while (co_notify_wait(&done, CO_MS(1)) != CO_WOKEN)
        continue;
    co_notify_close(&done);
    assert_int_equal(pthread_join(id, NULL), 0);
    print_message("%s", lines);
    assert_non_null(strstr(lines, "watchdog: worker 7: coroutine far ["));
    assert_non_null(strstr(lines, "spin_in_a_static_function+0x"));
    assert_int_equal(co_number(), 0);
    assert_int_equal(co_schedulers(), 1);
}

static void test_off(void **state)
{
    (void)state;
    co_watchdog_set(0);
    run("busy-one", busy, CO_MS(300));
    assert_int_equal(line_count, 0);
    co_watchdog_set(CO_MS(100));
    run("busy-one", busy, CO_MS(300));
    assert_true(line_count >= 1);
}

static void test_names_of_places(void **state)
{
    char buf[64], tiny[8];

    (void)state;
    (void)co_trace_text((uintptr_t[]){ (uintptr_t)&spin_in_a_static_function + 1 }, 1, buf, sizeof(buf));
    assert_string_equal(buf, "spin_in_a_static_function+0x1");
    assert_int_equal(co_trace_text((uintptr_t[]){ (uintptr_t)&its_caller }, 1, tiny, sizeof(tiny)), 7);
    assert_string_equal(tiny, "its_cal");
    (void)co_trace_text((uintptr_t[]){ 16 }, 1, buf, sizeof(buf));
    assert_string_equal(buf, "0x10");
    (void)co_trace_text((uintptr_t[]){ (uintptr_t)&getenv }, 1, buf, sizeof(buf));
    assert_non_null(strstr(buf, "+0x"));
    (void)co_trace_text((uintptr_t[]){ 1, 2 }, 2, buf, sizeof(buf));
    assert_string_equal(buf, "0x1 < 0x2");
    assert_int_equal(co_trace_text(NULL, 0, buf, sizeof(buf)), 0);
    assert_string_equal(buf, "");
}

#define DOG_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        DOG_TEST(test_a_busy_coroutine_is_named_with_its_place),
        DOG_TEST(test_a_blocked_one_used_no_cpu),
        DOG_TEST(test_each_hold_is_told),
        DOG_TEST(test_short_turns_and_idleness_are_no_hold),
        DOG_TEST(test_another_scheduler_is_named_by_its_number),
        DOG_TEST(test_off),
        DOG_TEST(test_names_of_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
