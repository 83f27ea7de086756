/* SPDX-License-Identifier: MIT */
/* test_co.c - coroutines, timers and sockets. */
#include "co/co.h"
#include "co/net/io_tcp.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static err_t sleep_long(void *arg)
{
    (void)arg;
    return co_sleep(CO_SECONDS(100));
}

static err_t end_at_once(void *arg)
{
    (void)arg;
    return err_new(ERR_IO_CLOSED, "at once");
}

static err_t forever(void *arg)
{
    err_t err;

    (void)arg;
    do {
        assert_int_not_equal(co_park(CO_MS(1)), CO_WOKEN);
        err = co_check();
    } while (!err);
    return err;
}

static void test_group_stops_all(void **state)
{
    struct co_group g;

    (void)state;
    co_group_init(&g);
    for (int i = 0; i < 1000; i++)
        assert_ok(co_go(&g, "sleeper", i % 2 ? sleep_long : forever, NULL));
    assert_ok(co_sleep(CO_MS(5)));
    assert_int_equal(co_live(), 1000);
    assert_err(co_group_stop(&g), ERR_STOPPED);
    assert_int_equal(co_live(), 0);
}

static void test_group_stopped_before_it_ran(void **state)
{
    struct co_group g;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "sleeper", sleep_long, NULL));
    assert_err(co_group_stop(&g), ERR_STOPPED);
}

static err_t holds_a_group(void *unused)
{
    struct co_group g;
    err_t err;

    (void)unused;
    co_group_init(&g);
    assert_ok(co_go(&g, "forever", forever, NULL));
    assert_ok(co_go(&g, "end", end_at_once, NULL));
    err = co_sleep(CO_SECONDS(100));
    assert_err(co_group_stop(&g), ERR_IO_CLOSED); /* the first error */
    return err;
}

static void test_group_in_a_group(void **state)
{
    struct co_group g;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "holder", holds_a_group, NULL));
    assert_ok(co_sleep(CO_MS(2)));
    assert_err(co_group_stop(&g), ERR_STOPPED); /* a stop goes through to both */
    assert_int_equal(co_live(), 0);
}

static void test_wake_is_never_lost(void **state)
{
    (void)state;
    co_unpark(co_self());
    co_unpark(co_self());
    assert_int_equal(co_park(CO_FOREVER), CO_WOKEN);
    assert_int_equal(co_park(0), CO_TIMEOUT);
    co_unpark(co_self());
    assert_ok(co_sleep(CO_MS(3))); /* a sleep takes its full time, and keeps the wakeup for the next park */
    assert_int_equal(co_park(0), CO_WOKEN);
}

/* Deadlines that move both ways over one timer. */
static void test_park_times_out_when_due(void **state)
{
    static const int ms[] = { 50, 5, 200, 1, 30, 4, 90 };

    (void)state;
    for (size_t i = 0; i < COUNT(ms); i++) {
        co_usec begin = co_clock(), took;

        assert_int_equal(co_park(CO_MS(ms[i])), CO_TIMEOUT);
        took = co_clock() - begin;
        assert_true(took >= CO_MS(ms[i]));
        assert_true(took < CO_SECONDS(2));
    }
}

struct timer_row {
    struct co_timer timer;
    co_usec due, ran;
    struct timer_row *cancels;
};

static void on_timer(struct co_timer *t)
{
    struct timer_row *row = (struct timer_row *)t;

    row->ran = co_clock();
    if (row->cancels)
        co_timer_cancel(&row->cancels->timer);
}

static void test_timers(void **state)
{
    enum { N = 2000 };
    struct timer_row *rows = calloc(N, sizeof(*rows));
    co_usec now = co_clock();

    (void)state;
    assert_non_null(rows);
    for (int i = 0; i < N; i++) {
        rows[i].due = now + (i * 7919LL % 400) * 1000;
        co_timer_set(&rows[i].timer, rows[i].due, on_timer);
    }
    for (int i = 0; i < N; i += 4)
        co_timer_cancel(&rows[i].timer);
    for (int i = 1; i < N; i += 4) { /* moved far beyond one turn of the wheel, and back */
        co_timer_set(&rows[i].timer, now + CO_SECONDS(60), on_timer);
        if (i % 8 == 1)
            co_timer_set(&rows[i].timer, rows[i].due, on_timer);
    }
    assert_ok(co_sleep(CO_MS(500)));
    for (int i = 0; i < N; i++) {
        bool runs = i % 4 != 0 && (i % 4 != 1 || i % 8 == 1);

        assert_int_equal(rows[i].ran != 0, runs);
        if (runs)
            assert_true(rows[i].ran >= rows[i].due && rows[i].ran < rows[i].due + CO_SECONDS(2));
        co_timer_cancel(&rows[i].timer);
    }
    free(rows);
}

/* The first of two that are due together cancels the second. */
static void test_timer_that_cancels_its_neighbour(void **state)
{
    struct timer_row a = { 0 }, b = { 0 };
    co_usec due = co_clock() + CO_MS(10);

    (void)state;
    a.cancels = &b;
    b.cancels = &a;
    co_timer_set(&a.timer, due, on_timer);
    co_timer_set(&b.timer, due, on_timer);
    assert_ok(co_sleep(CO_MS(40)));
    assert_true((a.ran == 0) != (b.ran == 0));
}

static void pair(struct io **a, struct io **b)
{
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
    assert_ok(io_tcp_open(a, fds[0]));
    assert_ok(io_tcp_open(b, fds[1]));
}

static err_t echo(void *arg)
{
    struct io *io = arg;
    char buf[100];
    size_t n;
    err_t err;

    do {
        err = io_read(io, buf, sizeof(buf), &n);
        if (!err)
            err = io_write(io, buf, n);
    } while (!err);
    io_close(io);
    return err;
}

static void test_echo(void **state)
{
    enum { N = 50000 };
    struct io *near, *far;
    struct co_group g;
    char *out = malloc(N), *in = malloc(N);

    (void)state;
    co_group_init(&g);
    pair(&near, &far);
    assert_ok(co_go(&g, "echo", echo, far));
    for (int i = 0; i < N; i++)
        out[i] = (char)(i * 31);
    near->read_timeout = near->write_timeout = CO_SECONDS(5);
    assert_ok(io_write(near, out, N));
    assert_ok(io_read_full(near, in, N));
    assert_memory_equal(in, out, N);
    io_close(near);
    assert_err(co_group_wait(&g), ERR_IO_CLOSED);
    free(out);
    free(in);
}

static void test_read_timeout_and_end(void **state)
{
    struct io *near, *far;
    char c;
    size_t n;

    (void)state;
    pair(&near, &far);
    near->read_timeout = CO_MS(20);
    assert_err(io_read(near, &c, 1, &n), ERR_IO_TIMEOUT);
    assert_ok(io_write(far, "xy", 2));
    io_close(far); /* data and EOF arrive together: neither may be lost */
    near->read_timeout = CO_SECONDS(2);
    assert_ok(io_read(near, &c, 1, &n));
    assert_ok(io_read(near, &c, 1, &n));
    assert_int_equal(c, 'y');
    assert_err(io_read(near, &c, 1, &n), ERR_IO_CLOSED);
    io_close(near);
}

/* A peer that does not read fills the pipe: send_some returns 0, writev times out. */
static void test_full_pipe(void **state)
{
    static char block[65536];
    struct io *near, *far;
    struct iovec iov = { block, sizeof(block) };
    size_t n, total = 0;

    (void)state;
    pair(&near, &far);
    do {
        assert_ok(io_send_some(near, &iov, 1, &n));
        total += n;
    } while (n > 0);
    assert_true(total > 0);
    near->write_timeout = CO_MS(20);
    assert_err(io_writev(near, &iov, 1), ERR_IO_TIMEOUT);
    assert_int_equal(io_wait(near, true, CO_MS(10)), CO_TIMEOUT);
    while (total > 0) {
        assert_ok(io_read(far, block, sizeof(block), &n));
        total -= n;
    }
    assert_int_equal(io_wait(near, true, CO_SECONDS(2)), CO_WOKEN);
    io_close(near);
    io_close(far);
}

static void test_readable_without_a_call(void **state)
{
    struct io *near, *far;
    char c;
    size_t n;

    (void)state;
    pair(&near, &far);
    assert_int_equal(io_wait(near, false, CO_MS(5)), CO_TIMEOUT);
    assert_false(io_readable(near));
    assert_ok(io_write(far, "x", 1));
    assert_int_equal(io_wait(near, false, CO_SECONDS(2)), CO_WOKEN);
    assert_true(io_readable(near));
    assert_ok(io_tcp_read_now(near, &c, 1, &n));
    assert_ok(io_tcp_read_now(near, &c, 1, &n)); /* it cannot know that nothing is left */
    assert_int_equal(n, 0);
    assert_false(io_readable(near));
    io_close(far);
    assert_int_equal(io_wait(near, false, CO_SECONDS(2)), CO_WOKEN);
    assert_true(io_readable(near));
    io_close(near);
}

struct accepting {
    struct io_listener *l;
    int count;
};

static err_t accept_some(void *arg)
{
    struct accepting *a = arg;
    uint8_t peer[IO_ADDR_BYTES];
    err_t err;
    int fd;

    while (!(err = io_accept(a->l, &fd, peer))) {
        a->count++;
        (void)close(fd);
    }
    return err;
}

static void test_listen_and_connect(void **state)
{
    static const char *const ips[] = { "127.0.0.1", "" };
    struct io *io;
    char ip[IO_ADDR_SIZE];
    int port;

    (void)state;
    for (size_t i = 0; i < COUNT(ips); i++) {
        struct accepting a = { 0 };
        struct co_group g;

        co_group_init(&g);
        assert_ok(io_listen(&a.l, ips[i], 0, 16));
        port = io_listener_port(a.l);
        assert_true(port > 0);
        assert_ok(co_go(&g, "accept", accept_some, &a));
        for (int k = 0; k < 20; k++) {
            assert_ok(io_tcp_connect(&io, "127.0.0.1", port, k % 2 ? "127.0.0.9" : NULL,
                                     CO_SECONDS(2)));
            io_tcp_peer(io, ip, &port);
            assert_string_equal(ip, "127.0.0.1");
            io_close(io);
        }
        assert_ok(co_sleep(CO_MS(20)));
        assert_int_equal(a.count, 20);
        assert_err(co_group_stop(&g), ERR_STOPPED);
        io_listener_close(a.l);
        assert_err(io_tcp_connect(&io, "127.0.0.1", port, NULL, CO_SECONDS(2)), ERR_IO_CONNECT);
    }
    assert_err(io_tcp_connect(&io, "not an ip", 1, NULL, CO_SECONDS(2)), ERR_IO_CONNECT);
    assert_err(io_tcp_connect(&io, "127.0.0.1", 65536, NULL, CO_SECONDS(2)), ERR_IO_CONNECT);
}

/* Answers each two bytes with one. */
static err_t answer_pairs(void *arg)
{
    struct io *io = arg;
    uint8_t pair[2];
    err_t err;

    while (!(err = io_read_full(io, pair, sizeof(pair))))
        err = io_write(io, pair, 1);
    return err;
}

/* The shortest time of some exchanges by a client that writes single bytes and lets the kernel merge
 * them. */
static co_usec shortest_exchange(struct io *io)
{
    co_usec shortest = CO_SECONDS(1);
    uint8_t byte = 1;

    for (int i = 0; i < 20; i++) {
        co_usec began = co_clock();

        assert_ok(io_write(io, &byte, 1));
        assert_ok(io_write(io, &byte, 1));
        assert_ok(io_read_full(io, &byte, 1));
        if (i >= 10 && co_clock() - began < shortest) /* at first the kernel does not delay */
            shortest = co_clock() - began;
    }
    return shortest;
}

static void test_quick_acks(void **state)
{
    struct io_listener *l;
    struct io *near, *far;
    co_usec took[2];
    static const uint8_t local[IO_ADDR_BYTES] = { [10] = 0xff, 0xff, 127, 0, 0, 1 };
    uint8_t peer[IO_ADDR_BYTES];
    int fd;

    (void)state;
    assert_ok(io_listen(&l, "127.0.0.1", 0, 16));
    for (int quick = 0; quick < 2; quick++) {
        struct co_group g;

        assert_ok(io_tcp_connect(&near, "127.0.0.1", io_listener_port(l), NULL, CO_SECONDS(2)));
        assert_ok(io_accept(l, &fd, peer));
        assert_memory_equal(peer, local, sizeof(peer));
        assert_ok(io_tcp_open(&far, fd));
        io_tcp_nodelay(far, true);
        io_tcp_quick_acks(far, quick ? 1000 : 0);
        co_group_init(&g);
        assert_ok(co_go(&g, "pairs", answer_pairs, far));
        took[quick] = shortest_exchange(near);
        io_close(near);
        assert_err(co_group_wait(&g), ERR_IO_CLOSED);
        io_close(far);
    }
    io_listener_close(l);
    if (took[0] < CO_MS(30))
        skip(); /* a kernel that does not delay */
    assert_true(took[1] < CO_MS(30));
}

static err_t deep(void *arg)
{
    volatile char big[6000];

    memset((void *)big, 1, sizeof(big));
    *(int *)arg += big[17];
    return NULL;
}

static err_t trim(void *arg)
{
    int kept = 41;
    err_t err = deep(&kept);

    for (int i = 0; !err && i < 10; i++) {
        co_stack_trim();
        err = co_sleep(CO_MS(1));
        if (!err)
            err = deep(&kept);
    }
    *(int *)arg = kept;
    return err;
}

static void test_stack_trim_keeps_what_is_used(void **state)
{
    struct co_group g;
    int got = 0;

    (void)state;
    co_group_init(&g);
    assert_ok(co_go(&g, "trim", trim, &got));
    assert_ok(co_group_wait(&g));
    assert_int_equal(got, 52);
}

static void test_cids(void **state)
{
    char first[16];

    (void)state;
    co_new_cid();
    assert_int_equal(strlen(co_cid()), 8);
    snprintf(first, sizeof(first), "%s", co_cid());
    co_new_cid();
    assert_string_not_equal(first, co_cid());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_group_stops_all),
        TEST(test_group_stopped_before_it_ran),
        TEST(test_group_in_a_group),
        TEST(test_wake_is_never_lost),
        TEST(test_park_times_out_when_due),
        TEST(test_timers),
        TEST(test_timer_that_cancels_its_neighbour),
        TEST(test_echo),
        TEST(test_read_timeout_and_end),
        TEST(test_full_pipe),
        TEST(test_readable_without_a_call),
        TEST(test_listen_and_connect),
        TEST(test_quick_acks),
        TEST(test_stack_trim_keeps_what_is_used),
        TEST(test_cids),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
