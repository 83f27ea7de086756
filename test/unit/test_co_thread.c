/* SPDX-License-Identifier: MIT */
/* test_co_thread.c - blocking calls on helper threads, and name resolution. */
#include "co/co.h"
#include "co/net/dns.h"
#include "co/notify.h"
#include "co/thread.h"
#include "unit.h"

#include <dirent.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static atomic_int dropped, started;
static atomic_bool gate; /* open: work that waits for it ends */

struct work {
    pthread_t ran_on;
    int ms, result; /* UNTIL_OPEN: until the gate is */
};

enum { UNTIL_OPEN = -1 };

static void do_work(void *arg)
{
    struct work *w = arg;

    atomic_fetch_add(&started, 1);
    for (int i = 0; w->ms == UNTIL_OPEN && i < 60000 && !atomic_load(&gate); i++)
        (void)nanosleep(&(struct timespec){ 0, 1000000L }, NULL);
    if (w->ms > 0)
        (void)nanosleep(&(struct timespec){ w->ms / 1000, w->ms % 1000 * 1000000L }, NULL);
    w->ran_on = pthread_self();
    w->result = 42;
}

static void drop(void *arg)
{
    free(arg);
    atomic_fetch_add(&dropped, 1);
}

static struct work *new_work(int ms)
{
    struct work *w = calloc(1, sizeof(*w));

    assert_non_null(w);
    w->ms = ms;
    return w;
}

static void wait_for_drops(int n)
{
    for (int i = 0; i < 20000 && atomic_load(&dropped) < n; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_int_equal(atomic_load(&dropped), n);
}

static void wait_for_started(int n)
{
    for (int i = 0; i < 20000 && atomic_load(&started) < n; i++)
        assert_ok(co_sleep(CO_MS(1)));
    assert_int_equal(atomic_load(&started), n);
}

static int setup(void **state)
{
    err_t err = co_init();

    (void)state;
    atomic_store(&dropped, 0);
    atomic_store(&started, 0);
    atomic_store(&gate, false);
    return err != NULL;
}

static void test_runs_on_another_thread_and_gives_back(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct work *w = new_work(0);

        assert_ok(co_thread_run(CO_POOL_FILE, do_work, w, drop, CO_SECONDS(5)));
        assert_int_equal(w->result, 42);
        assert_false(pthread_equal(w->ran_on, pthread_self()));
        free(w);
    }
    assert_int_equal(atomic_load(&dropped), 0);
}

/* ---- queues */

static struct queue_work {
    struct work *w;
    uint64_t queue;
    enum err_code code;
    bool done;
} queue_works[12];

static err_t run_in_queue(void *arg)
{
    struct queue_work *l = arg;
    err_t err = co_thread_run_queue(CO_POOL_VOD, l->queue, do_work, l->w, drop, CO_SECONDS(20));

    l->code = err_code(err);
    l->done = true;
    err_free(&err);
    return NULL;
}

/* A disk that does not answer occupies half of the threads; others continue. */
static void test_a_queue_has_half_of_the_threads(void **state)
{
    static const int most[] = { 0, 1, 2, 3, 6 }, taken[] = { 2, 1, 1, 1, 3 };
    struct co_group g;

    (void)state;
    for (size_t m = 0; m < COUNT(most); m++) {
        atomic_store(&started, 0);
        atomic_store(&gate, false);
        co_threads_limit(CO_POOL_VOD, most[m]);
        co_group_init(&g);
        for (size_t i = 0; i < COUNT(queue_works); i++) {
            bool hangs = i < COUNT(queue_works) - 2 || most[m] == 1;

            queue_works[i] = (struct queue_work){ .w = new_work(hangs ? UNTIL_OPEN : 0),
                                                .queue = hangs ? 7 : 8 + i };
            assert_ok(co_go(&g, "queue", run_in_queue, &queue_works[i]));
        }
        wait_for_started(most[m] == 1 ? 1 : taken[m] + 2);
        for (int i = 0; i < 1000 && most[m] != 1 && !queue_works[COUNT(queue_works) - 1].done; i++)
            assert_ok(co_sleep(CO_MS(1)));
        assert_ok(co_sleep(CO_MS(5)));
        assert_int_equal(atomic_load(&started), most[m] == 1 ? 1 : taken[m] + 2);
        atomic_store(&gate, true);
        assert_ok(co_group_wait(&g));
        for (size_t i = 0; i < COUNT(queue_works); i++) {
            assert_int_equal(queue_works[i].code, ERR_OK);
            free(queue_works[i].w);
        }
        co_threads_end(CO_SECONDS(5));
    }
    co_threads_limit(CO_POOL_VOD, 0);
}

static void test_who_wants_most_threads_decides(void **state)
{
    static struct queue_work v[4];
    struct co_group g;

    (void)state;
    co_threads_want(CO_POOL_VOD, 1);
    co_threads_want(CO_POOL_VOD, 3);
    co_threads_want(CO_POOL_VOD, 2);
    atomic_store(&started, 0);
    atomic_store(&gate, false);
    co_group_init(&g);
    for (size_t i = 0; i < COUNT(v); i++) {
        v[i] = (struct queue_work){ .w = new_work(UNTIL_OPEN) };
        assert_ok(co_go(&g, "wants", run_in_queue, &v[i]));
    }
    wait_for_started(3);
    assert_ok(co_sleep(CO_MS(5)));
    assert_int_equal(atomic_load(&started), 3);
    atomic_store(&gate, true);
    assert_ok(co_group_wait(&g));
    for (size_t i = 0; i < COUNT(v); i++)
        free(v[i].w);
    co_threads_end(CO_SECONDS(5));
    co_threads_limit(CO_POOL_VOD, 0);
}

static int turns;
static bool counting;

static err_t count_turns(void *arg)
{
    (void)arg;
    err_t err = NULL;

    while (counting && !err) {
        turns++;
        err = co_sleep(CO_MS(2));
    }
    return err;
}

static void test_others_run_meanwhile(void **state)
{
    struct work *w = new_work(200);
    struct co_group g;

    (void)state;
    turns = 0;
    counting = true;
    co_group_init(&g);
    assert_ok(co_go(&g, "turns", count_turns, NULL));
    assert_ok(co_thread_run(CO_POOL_FILE, do_work, w, drop, CO_SECONDS(5)));
    counting = false;
    assert_ok(co_group_wait(&g));
    assert_true(turns > 3);
    free(w);
}

static void test_a_wait_that_is_given_up_drops_when_the_call_is_over(void **state)
{
    co_usec patience = CO_MS(10);
    int never = 0; /* abandoned before a thread had taken them: dropped at once */

    (void)state;
    for (;; never++, patience *= 2) {
        assert_true(patience < CO_SECONDS(60));
        assert_err(co_thread_run(CO_POOL_FILE, do_work, new_work(UNTIL_OPEN), drop, patience),
                   ERR_IO_TIMEOUT);
        if (atomic_load(&dropped) == never)
            break; /* a thread has it, and waits for the gate */
    }
    atomic_store(&gate, true);
    wait_for_drops(never + 1);
}

static err_t run_long(void *arg)
{
    return co_thread_run(CO_POOL_FILE, do_work, arg, drop, CO_SECONDS(60));
}

static void test_a_stop_ends_the_wait(void **state)
{
    struct co_group g;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "long", run_long, new_work(UNTIL_OPEN)));
    wait_for_started(1);
    assert_err(co_group_stop(&g), ERR_STOPPED);
    assert_int_equal(atomic_load(&dropped), 0);
    atomic_store(&gate, true);
    wait_for_drops(1);
}

static void test_more_than_the_threads_wait_their_turn_and_more_than_the_queue_are_refused(
    void **state)
{
    enum { N = CO_POOL_THREADS + CO_POOL_QUEUE };
    struct co_group g, one;

    (void)state;
    co_group_init(&g);
    for (int i = 0; i < N; i++) {
        assert_ok(co_go(&g, "work", run_long, new_work(i < CO_POOL_THREADS ? UNTIL_OPEN : 0)));
        if (i == CO_POOL_THREADS - 1)
            wait_for_started(CO_POOL_THREADS); /* all threads are busy now */
    }
    co_yield();
    assert_ok(co_sleep(CO_MS(20)));
    co_group_init(&one);
    assert_ok(co_go(&one, "one more", run_long, new_work(0)));
    assert_err(co_group_wait(&one), ERR_TOO_MANY);
    assert_int_equal(atomic_load(&dropped), 1);
    assert_err(co_group_stop(&g), ERR_STOPPED);
    atomic_store(&gate, true);
    wait_for_drops(1 + N);
}

static void *raise_it(void *arg)
{
    (void)nanosleep(&(struct timespec){ 0, 30000000 }, NULL);
    co_notify_raise(arg);
    return NULL;
}

static void test_notify(void **state)
{
    struct co_notify n;
    pthread_t t;

    (void)state;
    assert_ok(co_notify_open(&n));
    assert_int_equal(co_notify_wait(&n, CO_MS(5)), CO_TIMEOUT);
    co_notify_raise(&n);
    co_notify_raise(&n);
    assert_int_equal(co_notify_wait(&n, CO_MS(500)), CO_WOKEN);
    assert_int_equal(co_notify_wait(&n, CO_MS(5)), CO_TIMEOUT);
    assert_int_equal(pthread_create(&t, NULL, raise_it, &n), 0);
    assert_int_equal(co_notify_wait(&n, CO_SECONDS(5)), CO_WOKEN);
    assert_int_equal(pthread_join(t, NULL), 0);
    assert_int_equal(co_notify_wait(&n, CO_MS(5)), CO_TIMEOUT);
    co_notify_close(&n);
}

static void test_notify_keeps_a_wake_that_was_meant_for_later(void **state)
{
    struct co_notify n;

    (void)state;
    assert_ok(co_notify_open(&n));
    co_unpark(co_self());
    co_notify_raise(&n);
    assert_int_equal(co_notify_wait(&n, CO_MS(100)), CO_WOKEN);
    assert_int_equal(co_park(CO_MS(100)), CO_WOKEN);
    co_notify_close(&n);
}

static const struct {
    const char *host;
    enum err_code code;
    const char *ip; /* NULL: any */
} names[] = {
    { "127.0.0.1", ERR_OK, "127.0.0.1" },
    { "::1", ERR_OK, "::1" },
    { "[::1]", ERR_OK, "::1" },
    { "localhost", ERR_OK, NULL },
    { "", ERR_DNS, NULL },
    { "[]", ERR_DNS, NULL },
    { "no such name", ERR_DNS, NULL },
    { "256.1.1.1 ", ERR_DNS, NULL },
};

static void test_names(void **state)
{
    char longest[400];
    struct co_dns out;

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        print_message("  \"%s\"\n", names[i].host);
        assert_err(co_dns_resolve(names[i].host, CO_SECONDS(10), &out), names[i].code);
        assert_true(names[i].code == ERR_OK ? out.count >= 1 : out.count == 0);
        if (names[i].ip)
            assert_string_equal(out.ip[0], names[i].ip);
    }
    memset(longest, 'a', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    assert_err(co_dns_resolve(longest, CO_SECONDS(10), &out), ERR_DNS);
}

static void test_connect_by_name(void **state)
{
    struct io_listener *l;
    struct io *io;

    (void)state;
    assert_ok(io_listen(&l, "127.0.0.1", 0, 5));
    /* localhost may be ::1 first, where no server listens */
    assert_ok(co_dns_connect(&io, "localhost", io_listener_port(l), NULL, CO_SECONDS(5)));
    io_close(io);
    io_listener_close(l);
}

static void run_one(int ms)
{
    struct work *w = new_work(ms);

    assert_ok(co_thread_run(CO_POOL_FILE, do_work, w, drop, CO_SECONDS(5)));
    assert_int_equal(w->result, 42);
    free(w);
}

#if defined(__SANITIZE_THREAD__)
enum { ALONE = 2 }; /* it has its own */
#else
enum { ALONE = 1 };
#endif

static int threads(void)
{
    DIR *d = opendir("/proc/self/task");
    int n = -2; /* . and .. */

    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n;
}

/* The kernel still shows a thread for a moment after it was joined. */
static int threads_left(void)
{
    int n = threads();

    for (int i = 0; i < 5000 && n > ALONE; i++, n = threads())
        assert_ok(co_sleep(CO_MS(1)));
    return n;
}

static void test_threads_end_and_come_again(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        run_one(0);
        assert_true(threads() > ALONE);
        co_threads_end(CO_SECONDS(5));
        assert_int_equal(threads_left(), ALONE);
    }
}

static void test_the_end_waits_no_longer_than_told_for_a_call_that_hangs(void **state)
{
    struct work *w = new_work(1000);
    err_t err = co_thread_run(CO_POOL_FILE, do_work, w, drop, CO_MS(10));
    co_usec begin = co_clock();

    (void)state;
    assert_err(err, ERR_IO_TIMEOUT);
    co_threads_end(CO_MS(50));
    assert_true(co_clock() - begin < CO_MS(900));
    wait_for_drops(1);
    co_threads_end(CO_SECONDS(5));
    assert_int_equal(threads_left(), ALONE);
    run_one(0);
}

#define CO_TEST(f) cmocka_unit_test_setup_teardown(f, setup, nothing_left)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CO_TEST(test_runs_on_another_thread_and_gives_back),
        CO_TEST(test_others_run_meanwhile),
        CO_TEST(test_a_queue_has_half_of_the_threads),
        CO_TEST(test_who_wants_most_threads_decides),
        CO_TEST(test_a_wait_that_is_given_up_drops_when_the_call_is_over),
        CO_TEST(test_a_stop_ends_the_wait),
        CO_TEST(test_more_than_the_threads_wait_their_turn_and_more_than_the_queue_are_refused),
        CO_TEST(test_notify),
        CO_TEST(test_notify_keeps_a_wake_that_was_meant_for_later),
        CO_TEST(test_names),
        CO_TEST(test_connect_by_name),
        CO_TEST(test_threads_end_and_come_again),
        CO_TEST(test_the_end_waits_no_longer_than_told_for_a_call_that_hangs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
