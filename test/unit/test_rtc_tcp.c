/* SPDX-License-Identifier: MIT */
/* test_rtc_tcp.c - WebRTC over TCP: frames in pieces, who does not begin with a check, and a
 * connection that goes to the worker that its check names. */
#include "co/net/io_tcp.h"
#include "loopback.h"
#include "rtc_fake.h"
#include "base/container_of.h"
#include "rtc_guest.h"
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
    return 0;
}

static struct io *call(void)
{
    struct io *io;

    assert_ok(io_tcp_connect(&io, "127.0.0.1", io_listener_port(listener), NULL, CO_SECONDS(2)));
    io->read_timeout = CO_SECONDS(3);
    return io;
}

static void put_frame(struct io *io, const void *data, size_t size)
{
    const uint8_t head[] = { (uint8_t)(size >> 8), (uint8_t)size };

    assert_ok(io_write(io, head, 2));
    assert_ok(io_write(io, data, size));
}

static size_t get_frame(struct io *io, uint8_t *out)
{
    uint8_t head[2];

    assert_ok(io_read_full(io, head, 2));
    assert_ok(io_read_full(io, out, (size_t)head[0] << 8 | head[1]));
    return (size_t)head[0] << 8 | head[1];
}

static size_t write_check(const struct rtc_guest *g, uint8_t out[STUN_MAX])
{
    static unsigned transactions;
    char name[100];
    struct stun_check c = { .username = name, .password = g->pwd, .use_candidate = true };

    (void)snprintf(name, sizeof(name), "%s:%s", g->theirs, g->ours);
    transactions++;
    memcpy(c.id, &transactions, sizeof(transactions));
    return stun_write_check(out, &c);
}

static void count(struct session_env *env, void *n)
{
    *(unsigned *)n = rtc_service_of(env)->base.n_peers;
}

static unsigned sessions(unsigned worker)
{
    unsigned n;

    workers_call(&two_env[0], worker, count, &n);
    return n;
}

/* From the check to the end, in pieces of one byte to begin with. */
static void live(struct rtc_guest *g)
{
    struct io *io = call();
    uint8_t check[STUN_MAX + 2], in[2048], packet[64] = { 0x80, 201 };
    struct stun_message m;
    unsigned before = fake_rtcp;
    size_t size = write_check(g, check + 2);

    check[0] = (uint8_t)(size >> 8);
    check[1] = (uint8_t)size;
    for (size_t i = 0; i < size + 2; i++) {
        assert_ok(io_write(io, check + i, 1));
        if (i % 16 == 0)
            assert_ok(co_sleep(CO_MS(1)));
    }
    size = get_frame(io, in);
    assert_true(stun_parse(&m, in, size) && m.class == STUN_SUCCESS && stun_is_of(&m, g->pwd));
    put_frame(io, "\x16hi", 3);
    assert_int_equal(get_frame(io, in), 3);
    packet[63] = 'k';
    for (int i = 0; i < 3; i++)
        put_frame(io, packet, sizeof(packet));
    UNTIL(fake_rtcp == before + 3);
    put_frame(io, "\x16" "bye", 4);
    assert_int_equal(get_frame(io, in), 3);
    io_close(io);
}

static void test_a_session_lives_over_tcp_at_its_worker(void **state)
{
    struct two_guest resident = { .type = CLIENTS_RTMP_PLAY, .id = "resident", .stream = "b" };

    (void)state;
    workers_call(&two_env[0], 1, two_enter, &resident);
    for (unsigned worker = 0; worker < 2; worker++) {
        struct rtc_guest g = { 0 };

        assert_int_equal(rtc_guest_ask(&g, &two_env[0], RTC_ASK_PLAY, worker ? "b" : "a"), 201);
        assert_int_equal(g.theirs[0], worker ? 'B' : 'A');
        live(&g);
        UNTIL(sessions(worker) == 0);
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
        { "\x00\x18\x00\x01\x00\x04\x21\x12\xa4\x42iiiiiiiiiiii\x00\x06\x00\x00", 26 }, /* of nobody */
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
    UNTIL(two_env[0].connections->count == 1); /* who accepts */
}

/* Its connection goes: it may come again by another one. */
static void test_a_session_outlives_its_connection(void **state)
{
    const struct rtc_peer *p;
    struct rtc_guest g = { 0 };
    struct io *io = call();
    uint8_t check[STUN_MAX], in[2048];

    (void)state;
    assert_int_equal(rtc_guest_ask(&g, &two_env[0], RTC_ASK_PLAY, "a"), 201);
    put_frame(io, check, write_check(&g, check));
    assert_true(get_frame(io, in) > 20);
    io_close(io);
    UNTIL(two_env[0].connections->count == 1);
    assert_int_equal(sessions(0), 1);
    p = container_of(rtc_service_of(&two_env[0])->base.clients, struct rtc_peer, base);
    assert_null(ice_way(&p->ice));
    assert_null(p->routes);
    io = call();
    put_frame(io, check, write_check(&g, check));
    assert_true(get_frame(io, in) > 20);
    put_frame(io, "\x16" "bye", 4);
    UNTIL(sessions(0) == 0);
    io_close(io);
}

/* One whose check names no session, and one whose session is over. */
static void test_a_connection_of_no_session_is_closed(void **state)
{
    struct rtc_guest g = { 0 }, none = { .theirs = "Anone", .pwd = "none", .ours = "guest" };
    struct io *io[2] = { call(), call() };
    uint8_t check[STUN_MAX], in[2048];
    size_t n;

    (void)state;
    assert_int_equal(rtc_guest_ask(&g, &two_env[0], RTC_ASK_PLAY, "a"), 201);
    put_frame(io[0], check, write_check(&g, check));
    put_frame(io[1], check, write_check(&none, check));
    assert_true(get_frame(io[0], in) > 20);
    put_frame(io[0], "\x16" "bye", 4);
    assert_int_equal(get_frame(io[0], in), 3);
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
