/* SPDX-License-Identifier: MIT */
/* test_rtsp_udp_clients.c - RTSP over UDP with clients over loopback. */
#include "rtsp_ports.h"

/* ---- over loopback */

static int server_port; /* a free port */
static struct session_env *env;
static struct co_group helpers;

static void env_begin(bool gso)
{
    const struct udp_opts opts = { 0 };
    struct udp *free_ones[2];

    assert_ok(udp_open_pair(free_ones, "", 26000, 28999, &opts));
    server_port = free_ones[0]->at.port;
    udp_close(free_ones[0]);
    udp_close(free_ones[1]);
    env = env_new_format("listen 1935; rtsp_server { enabled on; udp_port %d; udp_gso %s; }",
                         server_port, gso ? "on" : "off");
    co_group_init(&helpers);
    env->helpers = &helpers;
}

static void env_end(void)
{
    assert_ok(co_group_stop(&helpers));
    assert_null(env->service[PROTOCOL_RTSP]);
    env_free(&env);
}

/* A client: two sockets, and a connection without input. */
struct client {
    struct udp *socket[2];
    struct io_mem control;
};

static struct rtsp_pair client_open(struct client *c, const char *ip)
{
    const struct udp_opts opts = { .rcvbuf = 4 << 20 };

    assert_ok(udp_open_pair(c->socket, ip, 29000, 29999, &opts));
    io_mem_init(&c->control, NULL, 0);
    return (struct rtsp_pair){ c->socket[0]->at.port, c->socket[1]->at.port };
}

struct got {
    unsigned n, track;
    bool rtcp;
    size_t size;
};

static void on_input(void *arg, unsigned track, bool rtcp, const uint8_t *data, size_t size,
                     co_usec now)
{
    struct got *got = arg;

    (void)data;
    (void)now;
    *got = (struct got){ got->n + 1, track, rtcp, size };
}

static struct got nobodys;

static void client_close(struct client *c)
{
    udp_close(c->socket[0]);
    udp_close(c->socket[1]);
}

static void client_send(struct client *c, unsigned side, int port, const void *data, size_t size)
{
    struct iovec iov = { (void *)(uintptr_t)data, size };
    struct udp_path to = { 0 };

    assert_ok(udp_addr_parse(&to.peer, "127.0.0.1", port));
    assert_int_equal(udp_send(c->socket[side],
                              &(struct udp_out){ &iov, 1, 0, &to, UDP_NOT_ECT }, 1), 1);
}

/* Expects the next packets of that channel of the wire, until no more arrive. */
static void client_receives(struct client *c, uint8_t channel, unsigned side)
{
    co_usec until = co_clock() + CO_SECONDS(2);
    size_t next = 0;

    for (;;) {
        const struct udp_in *v;
        size_t n;

        while (next < wire_of_test.packets && wire_of_test.bytes[wire_of_test.at[next] + 1] != channel)
            next++;
        if (next == wire_of_test.packets)
            return;
        assert_ok(udp_recv_now(c->socket[side], &v, &n));
        for (size_t i = 0; i < n; i++, next++) {
            while (next < wire_of_test.packets && wire_of_test.bytes[wire_of_test.at[next] + 1] != channel)
                next++;
            assert_true(next < wire_of_test.packets);
            assert_int_equal(v[i].size, packet_size(next));
            assert_memory_equal(v[i].data, wire_of_test.bytes + wire_of_test.at[next] + RTP_INTERLEAVED,
                                v[i].size);
        }
        assert_true(co_clock() < until);
        if (n == 0)
            (void)udp_wait(c->socket[side], CO_MS(20));
    }
}

static bool client_receives_nothing(struct client *c, unsigned side)
{
    const struct udp_in *v;
    size_t n;

    (void)udp_wait(c->socket[side], CO_MS(5));
    assert_ok(udp_recv_now(c->socket[side], &v, &n));
    return n == 0;
}

/* Waits until the readers have received this many datagrams. */
static void readers_get(struct rtsp_udp *u, uint64_t datagrams)
{
    co_usec until = co_clock() + CO_SECONDS(2);
    struct rtsp_udp_stat stat;

    do {
        assert_ok(co_sleep(CO_MS(1)));
        rtsp_udp_stat(u, &stat);
        assert_true(co_clock() < until);
    } while (stat.side[0].in + stat.side[1].in < datagrams);
}

static struct rtsp_udp_peer *peer_of(struct rtsp_udp *u, rtsp_udp_input *input, void *arg)
{
    struct rtsp_udp_peer *p;

    assert_ok(rtsp_udp_peer_new(&p, u, "127.0.0.1", "127.0.0.1", input, arg));
    return p;
}

/* Sends the whole wire and waits when the io asks for it. */
static void send_wire(struct io *io)
{
    size_t at = 0, n;

    while (at < wire_of_test.size) {
        struct iovec iov = { wire_of_test.bytes + at, wire_of_test.size - at };
        bool boundary = false;

        assert_ok(io_send_some(io, &iov, 1, &n));
        at += n;
        for (size_t i = 0; i < wire_of_test.packets; i++)
            boundary |= wire_of_test.at[i] == at;
        assert_true(boundary || at == wire_of_test.size);
        if (at < wire_of_test.size)
            assert_int_equal(io_wait(io, true, CO_FOREVER), CO_WOKEN);
    }
}

static void check_play(bool gso, size_t frames)
{
    struct rtsp_udp_stat stat;
    struct rtsp_udp_peer *p;
    struct client video, audio;
    struct rtsp_udp *u;

    env_begin(gso);
    assert_ok(rtsp_udp_of(&u, env));
    p = peer_of(u, on_input, &nobodys);
    assert_ok(rtsp_udp_add(p, 0, client_open(&video, "127.0.0.1")));
    assert_ok(rtsp_udp_add(p, 1, client_open(&audio, "127.0.0.1")));
    wire_begin();
    for (size_t i = 0; i < frames; i++) {
        if (i % 10 == 0)
            wire_put(1, 52);
        for (unsigned k = 0; k < 9; k++)
            wire_put(0, 1412);
        wire_put(0, 20 + i);
        wire_put(2, 100 + i % 3);
        wire_put(4, 30); /* a track that is not set up */
    }
    send_wire(rtsp_udp_io(p, &video.control.io));
    client_receives(&video, 0, 0);
    client_receives(&video, 1, 1);
    client_receives(&audio, 2, 0);
    rtsp_udp_stat(u, &stat);
    assert_int_equal(stat.side[0].drops + stat.side[0].errors, 0);
    assert_true(video.control.io.bytes_out == wire_of_test.size);
    client_close(&video);
    client_close(&audio);
    rtsp_udp_peer_free(p);
    env_end();
}

static void test_plays(void **state)
{
    (void)state;
    check_play(true, 4);    /* in one burst */
    check_play(true, 40);   /* paced */
    check_play(false, 12);
}

static void test_writes_whole(void **state)
{
    struct rtsp_udp_peer *p;
    struct client c;
    struct rtsp_udp *u;
    struct iovec iov[2];

    (void)state;
    env_begin(true);
    assert_ok(rtsp_udp_of(&u, env));
    p = peer_of(u, on_input, &nobodys);
    assert_ok(rtsp_udp_add(p, 0, client_open(&c, "127.0.0.1")));
    wire_begin();
    for (unsigned i = 0; i < 150; i++)
        wire_put(0, 1000);
    iov[0] = (struct iovec){ wire_of_test.bytes, wire_of_test.at[70] };
    iov[1] = (struct iovec){ wire_of_test.bytes + wire_of_test.at[70], wire_of_test.size - wire_of_test.at[70] };
    assert_ok(io_writev(rtsp_udp_io(p, &c.control.io), iov, 2));
    client_receives(&c, 0, 0);
    client_close(&c);
    rtsp_udp_peer_free(p);
    env_end();
}

/* ---- receiving */

static const uint8_t rtp[20] = { 0x80, 96, 0, 1 }, hole[4] = { 0xfe, 0xed, 0xfa, 0xce };

static void test_input(void **state)
{
    struct rtsp_udp_stat stat;
    struct rtsp_udp_peer *p;
    struct client a, b, stranger;
    struct got got = { 0 };
    struct rtsp_pair to;
    struct rtsp_udp *u;
    co_usec last_seen = 0;

    (void)state;
    env_begin(true);
    assert_ok(rtsp_udp_of(&u, env));
    to = rtsp_udp_ports(u);
    assert_int_equal(to.rtp, server_port);
    assert_int_equal(to.rtcp, server_port + 1);
    p = peer_of(u, on_input, &got);
    assert_ok(rtsp_udp_add(p, 0, client_open(&a, "127.0.0.1")));
    assert_ok(rtsp_udp_add(p, 3, client_open(&b, "127.0.0.1")));
    (void)client_open(&stranger, "127.0.0.2");
    last_seen = co_clock() - CO_SECONDS(1);
    rtsp_udp_watch(p, &last_seen, CO_SECONDS(100));
    client_send(&a, 0, to.rtp, rtp, sizeof(rtp));
    readers_get(u, 1);
    assert_true(got.n == 1 && got.track == 0 && !got.rtcp && got.size == sizeof(rtp));
    assert_true(last_seen <= co_clock() - CO_SECONDS(1)); /* media do not count as keepalive of a
                                                       * player */
    client_send(&b, 1, to.rtcp, (const uint8_t[8]){ 0x80, RTCP_RR, 0, 1 }, 8);
    readers_get(u, 2);
    assert_true(last_seen > co_clock() - CO_SECONDS(1));
    assert_true(got.n == 2 && got.track == 3 && got.rtcp && got.size == 8);
    client_send(&a, 0, to.rtp, hole, sizeof(hole)); /* not RTP */
    client_send(&a, 0, to.rtp, "", 0);
    client_send(&stranger, 0, to.rtp, rtp, sizeof(rtp)); /* unknown address */
    client_send(&b, 0, to.rtp, rtp, sizeof(rtp));
    readers_get(u, 6);
    client_send(&a, 1, to.rtp, rtp, sizeof(rtp)); /* no port is unconfirmed there */
    readers_get(u, 7);
    assert_int_equal(got.n, 3);
    rtsp_udp_stat(u, &stat);
    assert_int_equal(stat.holes, 2);
    assert_int_equal(stat.unknown, 2);
    assert_int_equal(stat.moved, 0);
    client_close(&a);
    client_close(&b);
    client_close(&stranger);
    rtsp_udp_peer_free(p);
    env_end();
}

/* A router replaced the announced ports. */
static void test_port_moves_once(void **state)
{
    struct rtsp_udp_stat stat;
    struct rtsp_udp_peer *p;
    struct client announced, real, third, far;
    struct rtsp_udp *u;
    struct io *io;

    (void)state;
    env_begin(true);
    assert_ok(rtsp_udp_of(&u, env));
    p = peer_of(u, on_input, &nobodys);
    assert_ok(rtsp_udp_add(p, 0, client_open(&announced, "127.0.0.1")));
    (void)client_open(&real, "127.0.0.1");
    (void)client_open(&third, "127.0.0.1");
    (void)client_open(&far, "127.0.0.2");
    io = rtsp_udp_io(p, &announced.control.io);
    client_send(&far, 0, rtsp_udp_ports(u).rtp, hole, sizeof(hole)); /* another address */
    client_send(&real, 0, rtsp_udp_ports(u).rtp, hole, sizeof(hole));
    client_send(&third, 0, rtsp_udp_ports(u).rtp, hole, sizeof(hole)); /* moves only once */
    readers_get(u, 3);
    rtsp_udp_stat(u, &stat);
    assert_int_equal(stat.moved, 1);
    assert_int_equal(stat.unknown, 2);
    wire_begin();
    wire_put(0, 500);
    wire_put(1, 52);
    send_wire(io);
    client_receives(&real, 0, 0);
    client_receives(&announced, 1, 1); /* RTCP: no datagram came from another port */
    assert_true(client_receives_nothing(&announced, 0));
    /* back at the announced port */
    client_send(&announced, 0, rtsp_udp_ports(u).rtp, hole, sizeof(hole));
    readers_get(u, 4);
    wire_begin();
    wire_put(0, 600);
    send_wire(io);
    client_receives(&announced, 0, 0);
    assert_true(client_receives_nothing(&real, 0));
    assert_true(client_receives_nothing(&third, 0));
    assert_true(client_receives_nothing(&far, 0));
    client_close(&announced);
    client_close(&real);
    client_close(&third);
    client_close(&far);
    rtsp_udp_peer_free(p);
    env_end();
}

static void test_reports_confirm_ports(void **state)
{
    const struct rtcp_block block = { .ssrc = 7, .fraction = 64, .lost = 5, .jitter = 90 };
    struct rtsp_udp_peer *p;
    struct client c, other;
    struct rtsp_udp *u;
    struct wr w;

    (void)state;
    env_begin(true);
    assert_ok(rtsp_udp_of(&u, env));
    p = peer_of(u, on_input, &nobodys);
    assert_ok(rtsp_udp_add(p, 1, client_open(&c, "127.0.0.1")));
    wr_init(&w, 1000);
    rtcp_put_rr(&w, 9, &block, 1);
    client_send(&c, 1, rtsp_udp_ports(u).rtcp, w.buf, w.len);
    readers_get(u, 1);
    wr_free(&w);
    (void)client_open(&other, "127.0.0.1"); /* after media arrived no port moves */
    client_send(&other, 0, rtsp_udp_ports(u).rtp, hole, sizeof(hole));
    readers_get(u, 2);
    wire_begin();
    wire_put(2, 100);
    send_wire(rtsp_udp_io(p, &c.control.io));
    client_receives(&c, 2, 0);
    client_close(&c);
    client_close(&other);
    rtsp_udp_peer_free(p);
    env_end();
}

static void test_ports_are_one_sessions(void **state)
{
    struct rtsp_udp_peer *a, *b;
    struct rtsp_udp *u, *again;
    struct udp *taken[2];
    const struct udp_opts opts = { 0 };

    (void)state;
    env_begin(true);
    assert_ok(rtsp_udp_of(&u, env));
    assert_ok(rtsp_udp_of(&again, env));
    assert_ptr_equal(u, again);
    a = peer_of(u, on_input, &nobodys);
    b = peer_of(u, on_input, &nobodys);
    assert_ok(rtsp_udp_add(a, 0, (struct rtsp_pair){ 5000, 5001 }));
    assert_err(rtsp_udp_add(b, 0, (struct rtsp_pair){ 5000, 5003 }), ERR_TOO_MANY);
    assert_err(rtsp_udp_add(b, 0, (struct rtsp_pair){ 5002, 5001 }), ERR_TOO_MANY);
    assert_ok(rtsp_udp_add(b, 0, (struct rtsp_pair){ 5002, 5003 }));
    assert_ok(rtsp_udp_add(a, 0, (struct rtsp_pair){ 5000, 5001 })); /* the same ports again */
    rtsp_udp_remove(a, 0);
    assert_ok(rtsp_udp_add(b, 1, (struct rtsp_pair){ 5000, 5001 }));
    rtsp_udp_peer_free(a);
    rtsp_udp_close(u); /* b still uses it, new peers cannot */
    assert_null(env->service[PROTOCOL_RTSP]);
    assert_err(rtsp_udp_peer_new(&a, u, "127.0.0.1", "", on_input, &nobodys), ERR_DENIED);
    rtsp_udp_peer_free(b);
    assert_ok(co_group_wait(&helpers));
    /* the ports are free again */
    assert_ok(udp_open_pair(taken, "", server_port, server_port + 1, &opts));
    assert_err(rtsp_udp_of(&u, env), ERR_SOCKET_BIND);
    udp_close(taken[0]);
    udp_close(taken[1]);
    assert_ok(rtsp_udp_private(&u, env));
    assert_true(rtsp_udp_ports(u).rtp % 2 == 0);
    rtsp_udp_close(u);
    env_end();
}

/* ---- keepalive */

struct watched {
    struct rtsp_udp_peer *p;
    co_usec last_seen;
};

static err_t watched_main(void *arg)
{
    struct watched *w = arg;

    rtsp_udp_watch(w->p, &w->last_seen, CO_MS(30));
    return co_sleep(CO_SECONDS(5));
}

static err_t watched_long(void *arg)
{
    struct watched *w = arg;

    rtsp_udp_watch(w->p, &w->last_seen, CO_SECONDS(100));
    return co_sleep(CO_SECONDS(5));
}

static void test_silence_ends(void **state)
{
    struct watched w = { .last_seen = co_clock() };
    struct co_group g;
    struct rtsp_udp *u;
    co_usec begin = co_clock();

    (void)state;
    env_begin(true);
    assert_ok(rtsp_udp_of(&u, env));
    w.p = peer_of(u, on_input, &nobodys);
    co_group_init(&g);
    assert_ok(co_go(&g, "watched", watched_main, &w));
    assert_ok(co_sleep(CO_MS(20)));
    w.last_seen = co_clock();
    assert_err(co_group_wait(&g), ERR_IO_TIMEOUT);
    assert_true(co_clock() - begin >= CO_MS(50));
    rtsp_udp_unwatch(w.p);
    rtsp_udp_peer_free(w.p);
    env_end();
}

/* A client whose connection ended reconnects and sets up the same ports. */
static void test_comes_back(void **state)
{
    struct rtsp_udp_peer *again;
    struct watched w = { .last_seen = co_clock() };
    struct co_group g;
    struct client c;
    struct rtsp_pair ports;
    struct rtsp_udp *u;

    (void)state;
    env_begin(true);
    assert_ok(rtsp_udp_of(&u, env));
    w.p = peer_of(u, on_input, &nobodys);
    again = peer_of(u, on_input, &nobodys);
    ports = client_open(&c, "127.0.0.1");
    assert_ok(rtsp_udp_add(w.p, 0, ports));
    (void)rtsp_udp_io(w.p, &c.control.io);
    co_group_init(&g);
    assert_ok(co_go(&g, "watched", watched_long, &w));
    assert_ok(co_sleep(CO_MS(1)));
    assert_false(rtsp_udp_detach(w.p)); /* it has never sent a report */
    client_send(&c, 1, rtsp_udp_ports(u).rtcp, (const uint8_t[8]){ 0x80, RTCP_RR, 0, 1 }, 8);
    readers_get(u, 1);
    assert_err(rtsp_udp_add(again, 0, ports), ERR_TOO_MANY);
    assert_true(rtsp_udp_detach(w.p));
    assert_ok(rtsp_udp_add(again, 0, ports));
    assert_err(co_group_wait(&g), ERR_REPLACED);
    wire_begin();
    wire_put(0, 100);
    send_wire(rtsp_udp_io(w.p, &c.control.io)); /* the track has been removed */
    assert_true(client_receives_nothing(&c, 0));
    rtsp_udp_unwatch(w.p);
    rtsp_udp_peer_free(w.p);
    rtsp_udp_peer_free(again);
    client_close(&c);
    env_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_plays), TEST(test_writes_whole), TEST(test_input),
        TEST(test_port_moves_once), TEST(test_reports_confirm_ports),
        TEST(test_ports_are_one_sessions), TEST(test_silence_ends), TEST(test_comes_back),
    };
    const struct log_setup quiet = { .min = LOG_NONE };
    err_t err = co_init();

    assert(!err);
    log_init(&quiet);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
