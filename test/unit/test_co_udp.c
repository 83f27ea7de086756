/* SPDX-License-Identifier: MIT */
/* test_co_udp.c - datagrams over loopback: addresses, merging, errors of the kernel. */
#include "udp_ends.h"

static const struct udp_opts plain = { .plain = true };

static bool has_v6(void)
{
    struct udp *u;
    err_t err = udp_open(&u, "::1", 0, &udp_usual);
    bool has = !err;

    err_free(&err);
    if (has)
        udp_close(u);
    return has;
}

/* The next datagrams; at least one, within a second. */
static const struct udp_in *wait_some(struct udp *u, size_t *n)
{
    co_usec until = co_clock() + CO_SECONDS(1);
    const struct udp_in *v;

    for (;;) {
        assert_ok(udp_recv_now(u, &v, n));
        if (*n > 0)
            return v;
        assert_true(co_clock() < until);
        (void)udp_wait(u, CO_MS(100));
    }
}

/* Nothing arrives; over loopback, sent data is there when the call returns. */
static void assert_nothing(struct udp *u)
{
    const struct udp_in *v;
    size_t n;

    (void)udp_wait(u, CO_MS(5));
    assert_ok(udp_recv_now(u, &v, &n));
    assert_int_equal(n, 0);
}

/* ---- addresses */

static void test_addresses(void **state)
{
    static const struct {
        const char *ip, *text;
        bool any, v4;
    } rows[] = {
        { "127.0.0.1", "127.0.0.1:5", false, true }, { "0.0.0.0", "0.0.0.0:5", true, true },
        { "::1", "[::1]:5", false, false },          { "", "[::]:5", true, false },
        { "::ffff:1.2.3.4", "1.2.3.4:5", false, true },
    };
    static const uint8_t key[SIPHASH_KEY] = { 1, 2, 3 };
    struct udp_addr a, b;
    struct sockaddr_in6 sys;
    char text[UDP_TEXT];

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        assert_ok(udp_addr_parse(&a, rows[i].ip, 5));
        assert_string_equal(udp_addr_text(&a, text, sizeof(text)), rows[i].text);
        assert_int_equal(udp_addr_is_any(&a), rows[i].any);
        assert_int_equal(udp_addr_is_v4(&a), rows[i].v4);
        for (int v6 = !rows[i].v4; v6 < 2; v6++) {
            assert_true(udp_addr_to(&a, v6, &sys) > 0);
            udp_addr_from(&b, &sys);
            assert_true(udp_addr_same(&a, &b));
            assert_true(udp_addr_hash(&a, key) == udp_addr_hash(&b, key));
        }
        b = a;
        b.zone++; /* does not count */
        assert_true(udp_addr_hash(&a, key) == udp_addr_hash(&b, key));
        b.port++;
        assert_false(udp_addr_hash(&a, key) == udp_addr_hash(&b, key));
    }
    assert_int_equal(udp_addr_to(&(struct udp_addr){ .ip = { 1 } }, false, &sys), 0);
    assert_err(udp_addr_parse(&a, "no address", 5), ERR_IO_CONNECT);
    assert_err(udp_addr_parse(&a, "127.0.0.1", 65536), ERR_IO_CONNECT);
}

/* ---- loopback */

/* Numbers, so that wrong splits are noticed. */
static void number_bytes(uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(i * 7 + i / 251);
}

/* Everything arrives, split as requested, by the kernel or by us. */
static void check_cut(const struct udp_opts *from, const struct udp_opts *to, size_t size,
                      size_t segment)
{
    static uint8_t data[70000];
    size_t at = 0, count = 0, n;
    struct udp *a, *b;
    struct udp_path path;

    number_bytes(data, sizeof(data));
    assert_ok(udp_open(&a, "127.0.0.1", 0, from));
    assert_ok(udp_open(&b, "127.0.0.1", 0, to));
    path = udp_path_to("127.0.0.1", b->at.port);
    assert_int_equal(udp_send_bytes(a, &path, data, size, segment), 1);
    assert_int_equal(a->stat.out_bytes, size);
    while (at < size) {
        const struct udp_in *v = wait_some(b, &n);

        for (size_t i = 0; i < n; i++) {
            size_t left = size - at;

            assert_int_equal(v[i].size, left < segment ? left : segment);
            assert_memory_equal(v[i].data, data + at, v[i].size);
            assert_int_equal(v[i].path.peer.port, a->at.port);
            at += v[i].size;
            count++;
        }
    }
    assert_int_equal(count, (size + segment - 1) / segment);
    assert_int_equal(a->stat.out, count);
    assert_int_equal(b->stat.in, count);
    assert_nothing(b);
    udp_close(a);
    udp_close(b);
}

static void test_cut_and_merged(void **state)
{
    const struct udp_opts large = { .rcvbuf = 4 << 20, .sndbuf = 4 << 20 };
    const struct udp_opts simple = { .rcvbuf = 4 << 20, .sndbuf = 4 << 20, .plain = true };
    static const struct {
        size_t size, segment;
    } rows[] = {
        { 1, 1200 },     { 1200, 1200 },   { 1201, 1200 },    { 2400, 1200 },  { 2399, 1200 },
        { 64 * 100, 100 }, { 64 * 100 + 1, 100 }, { 65000, 1316 }, { 66001, 1472 }, { 100, 1 },
    };

    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        for (int how = 0; how < 4; how++)
            check_cut(how & 1 ? &simple : &large, how & 2 ? &simple : &large, rows[i].size,
                      rows[i].segment);
    }
}

/* Headers and payloads of a row are separate; one row after the other, to two peers. */
static void test_gathers(void **state)
{
    enum { ROWS = 60, HEAD = 16, BODY = 500 };
    static uint8_t head[ROWS][HEAD], body[ROWS][BODY];
    const struct udp_opts large = { .rcvbuf = 4 << 20, .sndbuf = 4 << 20 };
    static struct iovec iov[ROWS][6];
    static struct udp_out out[ROWS];
    struct udp *a, *b[2];
    struct udp_path path[2];

    (void)state;
    assert_ok(udp_open(&a, "127.0.0.1", 0, &large));
    for (int i = 0; i < 2; i++) {
        assert_ok(udp_open(&b[i], "127.0.0.1", 0, &large));
        path[i] = udp_path_to("127.0.0.1", b[i]->at.port);
    }
    for (size_t i = 0; i < ROWS; i++) {
        memset(head[i], (int)i, HEAD);
        memset(body[i], (int)i + 100, BODY);
        for (int j = 0; j < 6; j++)
            iov[i][j] = j % 2 ? (struct iovec){ body[i], BODY } : (struct iovec){ head[i], HEAD };
        out[i] = (struct udp_out){ iov[i], 6, HEAD + BODY, &path[i % 2], UDP_NOT_ECT };
    }
    assert_int_equal(udp_send(a, out, ROWS), ROWS);
    assert_int_equal(a->stat.out, ROWS * 3);
    for (size_t to = 0; to < 2; to++) {
        for (size_t seen = 0, n; seen < ROWS / 2 * 3; seen += n) {
            const struct udp_in *v = wait_some(b[to], &n);

            for (size_t i = 0; i < n; i++) {
                size_t row = (seen + i) / 3 * 2 + to;

                assert_int_equal(v[i].size, HEAD + BODY);
                assert_memory_equal(v[i].data, head[row], HEAD);
                assert_memory_equal(v[i].data + HEAD, body[row], BODY);
            }
        }
        udp_close(b[to]);
    }
    udp_close(a);
}

/* Thousands of pieces of a byte each, more than fit into one call. */
static void test_gathers_many_small(void **state)
{
    enum { EACH = 200, COUNT_OF = 40 };
    static struct iovec iov[EACH * COUNT_OF];
    static uint8_t data[EACH * COUNT_OF];
    struct udp_path path;
    struct udp *a, *b;
    size_t at = 0, n;

    (void)state;
    number_bytes(data, sizeof(data));
    for (size_t i = 0; i < COUNT(iov); i++)
        iov[i] = (struct iovec){ &data[i], 1 };
    assert_ok(udp_open(&a, "127.0.0.1", 0, &udp_usual));
    assert_ok(udp_open(&b, "127.0.0.1", 0, &udp_usual));
    path = udp_path_to("127.0.0.1", b->at.port);
    assert_int_equal(udp_send(a, &(struct udp_out){ iov, COUNT(iov), EACH, &path, 0 }, 1), 1);
    while (at < sizeof(data)) {
        const struct udp_in *v = wait_some(b, &n);

        for (size_t i = 0; i < n; i++) {
            assert_int_equal(v[i].size, EACH);
            assert_memory_equal(v[i].data, data + at, EACH);
            at += v[i].size;
        }
    }
    udp_close(a);
    udp_close(b);
}

static void check_odd_sizes(const struct udp_opts *like)
{
    struct udp_opts small = *like;
    static uint8_t huge[66000];
    uint8_t data[1000] = { 1, 2, 3 };
    struct udp_path path;
    const struct udp_in *v;
    struct udp *a, *b;
    size_t n;

    small.most = 100;
    assert_ok(udp_open(&a, "127.0.0.1", 0, &udp_usual));
    assert_ok(udp_open(&b, "127.0.0.1", 0, &small));
    path = udp_path_to("127.0.0.1", b->at.port);
    assert_int_equal(udp_send_bytes(a, &path, data, 101, 0), 1);
    assert_int_equal(udp_send_bytes(a, &path, data, 0, 0), 1);
    assert_int_equal(udp_send_bytes(a, &path, data, 300, 150), 1);
    assert_int_equal(udp_send_bytes(a, &path, data, 100, 0), 1);
    for (size_t seen = 0; seen < 2; seen += n) {
        v = wait_some(b, &n);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(v[i].size, seen + i ? 100 : 0);
    }
    assert_int_equal(b->stat.truncated, 3);
    assert_int_equal(b->stat.in, 2);
    assert_int_equal(b->stat.in_bytes, 100);
    /* a datagram that cannot be sent does not stop later ones */
    assert_int_equal(udp_send(a, (struct udp_out[]){
        { &(struct iovec){ huge, sizeof(huge) }, 1, 0, &path, 0 },
        { &(struct iovec){ data, 3 }, 1, 0, &path, 0 } }, 2), 2);
    assert_int_equal(a->stat.errors, 1);
    v = wait_some(b, &n);
    assert_int_equal(v->size, 3);
    udp_close(a);
    udp_close(b);
}

static void test_truncated_and_empty(void **state)
{
    (void)state;
    check_odd_sizes(&udp_usual);
    check_odd_sizes(&plain);
}

/* ECN marks go both ways, also with datagrams that the kernel splits and merges. */
static void check_ecn(const char *ip, const char *bound)
{
    struct udp *a, *b;
    struct udp_path path;
    uint8_t data[600] = { 0 };

    assert_ok(udp_open(&a, "", 0, &udp_usual));
    assert_ok(udp_open(&b, bound, 0, &udp_usual));
    path = udp_path_to(ip, b->at.port);
    for (int ecn = 0; ecn < 4; ecn++) {
        struct iovec iov = { data, sizeof(data) };
        size_t seen = 0, n;

        assert_int_equal(udp_send(a, &(struct udp_out){ &iov, 1, 200, &path, ecn }, 1), 1);
        while (seen < 3) {
            const struct udp_in *v = wait_some(b, &n);

            for (size_t i = 0; i < n; i++)
                assert_int_equal(v[i].ecn, ecn);
            seen += n;
        }
    }
    udp_close(a);
    udp_close(b);
}

static void test_ecn(void **state)
{
    (void)state;
    check_ecn("127.0.0.1", "127.0.0.1");
    check_ecn("127.0.0.1", "");
    if (has_v6()) {
        check_ecn("::1", "::1");
        check_ecn("::1", "");
    }
}

/* The answer comes from the address that was asked, whichever of ours it is. */
static void check_answer(struct udp *server, const char *asked, const char *from)
{
    struct udp_path path = udp_path_to(asked, server->at.port);
    struct udp_addr expected;
    const struct udp_in *v;
    struct udp *client;
    size_t n;

    assert_ok(udp_addr_parse(&expected, asked, server->at.port));
    assert_ok(udp_open(&client, from, 0, &udp_usual));
    assert_int_equal(udp_send_bytes(client, &path, "?", 1, 0), 1);
    v = wait_some(server, &n);
    assert_int_equal(n, 1);
    assert_true(udp_addr_same(&v->path.local, &expected));
    path = v->path;
    assert_int_equal(udp_send_bytes(server, &path, "!", 1, 0), 1);
    v = wait_some(client, &n);
    assert_true(udp_addr_same(&v->path.peer, &expected));
    udp_close(client);
}

static void test_answers_from_where_it_was_asked(void **state)
{
    struct udp *server;

    (void)state;
    assert_ok(udp_open(&server, "", 0, &udp_usual));
    check_answer(server, "127.0.0.1", "127.0.0.1");
    check_answer(server, "127.0.0.2", "127.0.0.1");
    check_answer(server, "127.1.2.3", "127.0.0.9");
    if (has_v6())
        check_answer(server, "::1", "::1");
    udp_close(server);
    assert_ok(udp_open(&server, "0.0.0.0", 0, &udp_usual));
    check_answer(server, "127.0.0.2", "127.0.0.1");
    udp_close(server);
}

/* A path whose local address is no longer ours is an error of that datagram only. */
static void test_local_address_that_is_gone(void **state)
{
    struct udp *a, *b;
    struct udp_path path;

    (void)state;
    assert_ok(udp_open(&a, "", 0, &udp_usual));
    assert_ok(udp_open(&b, "127.0.0.1", 0, &udp_usual));
    path = udp_path_to("127.0.0.1", b->at.port);
    assert_ok(udp_addr_parse(&path.local, "192.0.2.1", 0));
    assert_int_equal(udp_send_bytes(a, &path, "x", 1, 0), 1);
    assert_int_equal(a->stat.errors, 1);
    assert_int_equal(a->stat.out, 0);
    assert_nothing(b);
    udp_close(a);
    udp_close(b);
}

static void test_kernel_says_when_it_came(void **state)
{
    struct udp *a, *b;
    struct udp_path path;
    co_usec before, after;
    const struct udp_in *v;
    size_t n;

    (void)state;
    assert_ok(udp_open(&a, "127.0.0.1", 0, &udp_usual));
    assert_ok(udp_open(&b, "127.0.0.1", 0, &udp_usual));
    path = udp_path_to("127.0.0.1", b->at.port);
    before = co_clock();
    assert_int_equal(udp_send_bytes(a, &path, "x", 1, 0), 1);
    after = co_clock();
    assert_ok(co_sleep(CO_MS(30))); /* it waits; the clocks of both may differ by some µs */
    v = wait_some(b, &n);
    assert_in_range(v->at, before - CO_MS(2), after + CO_MS(10));
    udp_close(a);
    udp_close(b);
}

static void test_overflow_is_counted(void **state)
{
    const struct udp_opts small = { .rcvbuf = 4096 };
    struct udp *a, *b;
    struct udp_path path;
    uint8_t data[1000] = { 0 };
    size_t n;

    (void)state;
    assert_ok(udp_open(&a, "127.0.0.1", 0, &udp_usual));
    assert_ok(udp_open(&b, "127.0.0.1", 0, &small));
    path = udp_path_to("127.0.0.1", b->at.port);
    for (int i = 0; i < 50; i++)
        assert_int_equal(udp_send_bytes(a, &path, data, sizeof(data), 0), 1);
    do { /* earlier ones do not have it */
        (void)wait_some(b, &n);
        assert_int_equal(udp_send_bytes(a, &path, data, 1, 0), 1);
    } while (b->stat.overflow == 0 && b->stat.in < 50);
    assert_in_range(b->stat.overflow, 20, 50);
    udp_close(a);
    udp_close(b);
}

static void test_reuseport_and_pairs(void **state)
{
    const struct udp_opts shared = { .reuseport = true };
    struct udp *u[4], *pair[2], *other[2];

    (void)state;
    assert_ok(udp_open(&u[0], "127.0.0.1", 0, &shared));
    assert_ok(udp_open(&u[1], "127.0.0.1", u[0]->at.port, &shared));
    assert_err(udp_open(&u[2], "127.0.0.1", u[0]->at.port, &udp_usual), ERR_SOCKET_BIND);
    udp_close(u[0]);
    udp_close(u[1]);
    assert_ok(udp_open_pair(pair, "127.0.0.1", 47001, 47006, &udp_usual));
    assert_int_equal(pair[0]->at.port % 2, 0);
    assert_int_equal(pair[1]->at.port, pair[0]->at.port + 1);
    assert_in_range(pair[0]->at.port, 47002, 47005);
    assert_ok(udp_open_pair(other, "127.0.0.1", 47001, 47006, &udp_usual));
    assert_err(udp_open_pair(&u[0], "127.0.0.1", 47001, 47006, &udp_usual), ERR_SOCKET_BIND);
    assert_err(udp_open_pair(&u[0], "127.0.0.1", 47001, 47002, &udp_usual), ERR_SOCKET_BIND);
    for (int i = 0; i < 2; i++) {
        udp_close(pair[i]);
        udp_close(other[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_addresses), TEST(test_cut_and_merged), TEST(test_gathers),
        TEST(test_gathers_many_small), TEST(test_truncated_and_empty), TEST(test_ecn),
        TEST(test_answers_from_where_it_was_asked), TEST(test_local_address_that_is_gone),
        TEST(test_kernel_says_when_it_came), TEST(test_overflow_is_counted),
        TEST(test_reuseport_and_pairs),
    };
    err_t err = co_init();

    assert(!err);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
