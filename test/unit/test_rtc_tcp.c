/* SPDX-License-Identifier: MIT */
/* test_rtc_tcp.c - WebRTC over TCP: frames in pieces, clients that do not begin with a check, and a
 * connection that moves to the worker that its check names. */
#include "co/net/io_tcp.h"
#include "loopback.h"
#include "base/container_of.h"
#include "co/thread.h"
#include "rtc_guest.h"
#include "serve/rtc/impl.h"
#include "two_workers.h"

#include <unistd.h>

static struct io_listener *listener;

static err_t serve_main(void *io)
{
    rtc_service_tcp(rtc_service_of(&two_env[0]), io, NULL, 0);
    return NULL;
}

static err_t accept_main(void *unused)
{
    uint8_t peer[IO_ADDR_BYTES];
    struct io *io;
    err_t err;
    int fd;

    (void)unused;
    while (!(err = io_accept(listener, &fd, peer))) {
        assert(!io_tcp_open(&io, fd));
        assert(!co_go(two_env[0].connections, "tcp", serve_main, io));
    }
    err_free(&err);
    return NULL;
}

static int set_up(void **state)
{
    char text[200];

    (void)state;
    assert_ok(co_init());
    (void)snprintf(text, sizeof(text), "listen 1935; rtc_server { enabled on; listen 127.0.0.1:%d;"
                   "} vhost __defaultVhost__ { rtc { enabled on; } }", loopback_port());
    loopback_begin_two(&rtc_protocol, PROTOCOL_RTC, text);
    assert_ok(io_listen(&listener, "127.0.0.1", 0, 16));
    assert_ok(co_go(two_env[0].connections, "accept", accept_main, NULL));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    loopback_end_two();
    io_listener_close(listener);
    co_threads_end(CO_SECONDS(5));
    return 0;
}

static struct io *call(void)
{
    struct io *io;

    assert_ok(io_tcp_connect(&io, "127.0.0.1", io_listener_port(listener), NULL, CO_SECONDS(2)));
    io->read_timeout = CO_SECONDS(3);
    return io;
}

/* Sends a check in pieces of one byte, and reads its answer. */
static void check_in_pieces(struct rtc_guest *g)
{
    uint8_t check[STUN_MAX + 2], in[2048];
    char name[100];
    struct stun_check c = { .username = name, .password = g->pwd, .use_candidate = true, .id = { 9 } };
    struct stun_message m;
    size_t size;

    (void)snprintf(name, sizeof(name), "%s:%s", g->theirs, g->ours);
    size = stun_write_check(check + 2, &c);
    check[0] = (uint8_t)(size >> 8);
    check[1] = (uint8_t)size;
    for (size_t i = 0; i < size + 2; i++) {
        assert_ok(io_write(g->tcp, check + i, 1));
        if (i % 16 == 0)
            assert_ok(co_sleep(CO_MS(1)));
    }
    size = rtc_guest_hear(g, in, 0);
    assert_true(stun_parse(&m, in, size) && m.class == STUN_SUCCESS && stun_is_of(&m, g->pwd));
}

static void live(struct rtc_guest *g, unsigned worker)
{
    uint64_t before = rtc_guest_stat(worker).rtcp_in;

    g->tcp = call();
    check_in_pieces(g);
    assert_true(rtc_guest_shakes(g));
    for (int i = 0; i < 3; i++)
        rtc_guest_packet(g, 201);
    UNTIL(rtc_guest_stat(worker).rtcp_in == before + 3);
    rtc_guest_bye(g);
    assert_true(rtc_guest_hears_bye(g));
    io_close(g->tcp);
    rtc_guest_forget(g);
}

static void test_a_session_lives_over_tcp_at_its_worker(void **state)
{
    struct two_guest resident = { .type = CLIENTS_RTMP_PLAY, .id = "resident", .stream = "b" };

    (void)state;
    workers_call(&two_env[0], 1, two_enter, &resident);
    for (unsigned worker = 0; worker < 2; worker++) {
        struct rtc_guest g = { 0 };

        assert_int_equal(rtc_guest_ask(&g, &two_env[0], RTC_REQUEST_PLAY, worker ? "b" : "a"), 201);
        assert_int_equal(g.theirs[0], worker ? 'B' : 'A');
        live(&g, worker);
        UNTIL(rtc_guest_stat(worker).sessions == 0);
    }
    workers_call(&two_env[0], 1, two_leave, &resident);
}

static void test_who_does_not_begin_with_a_check_is_closed(void **state)
{
    static const struct {
        const char *data;
        size_t size;
    } rows[] = {
        { "\x00\x00", 2 }, { "\x00\x04GET ", 6 }, { "\x05\xdd", 2 }, { "\xff\xff", 2 },
        { "\x00\x03\x16hi", 5 },
        { "\x00\x18\x00\x01\x00\x04\x21\x12\xa4\x42iiiiiiiiiiii\x00\x06\x00\x00", 26 }, /* no such session */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct io *io = call();
        uint8_t in[8];
        size_t n;

        assert_ok(io_write(io, rows[i].data, rows[i].size));
        assert_err(io_read(io, in, sizeof(in), &n), ERR_IO_CLOSED);
        io_close(io);
    }
    UNTIL(two_env[0].connections->count == 1); /* the accepting worker */
}

/* Its connection ends: it may return over another one. */
static void test_a_session_outlives_its_connection(void **state)
{
    const struct rtc_peer *p;
    struct rtc_guest g = { .tcp = call() };

    (void)state;
    assert_int_equal(rtc_guest_ask(&g, &two_env[0], RTC_REQUEST_PLAY, "a"), 201);
    assert_true(rtc_guest_checks(&g));
    io_close(g.tcp);
    UNTIL(two_env[0].connections->count == 1);
    assert_int_equal(rtc_guest_stat(0).sessions, 1);
    p = container_of(rtc_service_of(&two_env[0])->base.clients, struct rtc_peer, base);
    assert_null(ice_path(&p->ice));
    assert_null(p->routes);
    g.tcp = call();
    assert_true(rtc_guest_connects(&g));
    rtc_guest_bye(&g);
    UNTIL(rtc_guest_stat(0).sessions == 0);
    io_close(g.tcp);
    rtc_guest_forget(&g);
}

/* One whose check names no session, and one whose session is over. */
static void test_a_connection_of_no_session_is_closed(void **state)
{
    struct rtc_guest g = { .tcp = call() };
    struct rtc_guest none = { .theirs = "Anone", .pwd = "none", .ours = "guest", .tcp = call() };
    struct io *io[2] = { g.tcp, none.tcp };
    uint8_t in[2048];
    size_t n;

    (void)state;
    assert_int_equal(rtc_guest_ask(&g, &two_env[0], RTC_REQUEST_PLAY, "a"), 201);
    assert_true(rtc_guest_checks(&g));
    rtc_guest_check(&none, none.pwd, true);
    assert_true(rtc_guest_shakes(&g));
    rtc_guest_bye(&g);
    assert_true(rtc_guest_hears_bye(&g));
    rtc_guest_forget(&g);
    for (int i = 0; i < 2; i++) {
        err_t err;

        do
            err = io_read(io[i], in, sizeof(in), &n);
        while (!err);
        assert_err(err, ERR_IO_CLOSED);
        io_close(io[i]);
    }
    UNTIL(two_env[0].connections->count == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_session_lives_over_tcp_at_its_worker),
        TEST(test_who_does_not_begin_with_a_check_is_closed),
        TEST(test_a_session_outlives_its_connection),
        TEST(test_a_connection_of_no_session_is_closed),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
